"""The transcendental unit's functions as the card has them, to the last bit where that is known: integer steps on the
bits of an f32.

Each cuts its range into intervals, and in each is a cubic of the place f in it, c + f * (l + f * (q + f * k)), whose
coefficients are integers and whose products lose bits on the way to 24 that are kept. Coefficients, widths and
roundings are facts of ROCm/rocm-systems (rocjitsu, `util/amdgpu_exp.h`, `amdgpu_log.h`, `amdgpu_trig.h` and their
like), which fitted them to captures of a gfx1100 and a gfx1201. Digests of the captures say that exp2 is right for all
fractions of either sign, log2 from 0.5 to 2, and sine and cosine for all f16, where the result is that of f32, rounded;
of sine and cosine in f32 there are single captures. In f16, exp2, log2 and rcp are the exact value, rounded, by such
digests, too.

The functions are written on `isa.semantics.values.Value` once, for every engine. An engine adds what looks up a table,
`entry`, and a product, `product`. Limits: rcp, rsq and sqrt are the cubics alone, without the emulator's lists of
operands, one in 3,000 or fewer, at which the last bit is another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_EXP2 = (
    (268435456, 5814541, 8060268, 29), (274313427, 5941862, 8236765, 29), (280320109, 6071972, 8417127, 30),
    (286458319, 6204931, 8601438, 31), (292730941, 6340801, 8789785, 31), (299140913, 6479647, 8982256, 32),
    (305691246, 6621533, 9178942, 33), (312385013, 6766525, 9379934, 33), (319225354, 6914693, 9585328, 34),
    (326215479, 7066105, 9795219, 35), (333358667, 7220833, 10009707, 36), (340658273, 7378948, 10228891, 36),
    (348117717, 7540526, 10452874, 37), (355740503, 7705642, 10681762, 38), (363530205, 7874374, 10915663, 39),
    (371490480, 8046800, 11154685, 40), (379625062, 8223002, 11398940, 41), (387937769, 8403062, 11648545, 42),
    (396432501, 8587066, 11903614, 42), (405113242, 8775098, 12164270, 43), (413984066, 8967247, 12430633, 44),
    (423049137, 9163605, 12702828, 45), (432312707, 9364261, 12980984, 46), (441779122, 9569312, 13265230, 47),
    (451452826, 9778853, 13555701, 48), (461338356, 9992982, 13852532, 49), (471440350, 10211799, 14155863, 50),
    (481763549, 10435409, 14465836, 52), (492312797, 10663914, 14782597, 53), (503093043, 10897424, 15106293, 54),
    (514109347, 11136046, 15437078, 55), (525366876, 11379894, 15775106, 56),
)  # fmt: skip
"""Of each interval c in 2^-28, l in 2^-28, q in 2^-35 and k in 2^-24 for f in 2^-24 of an interval, or as cut below."""


def _coefficients(table: tuple[tuple[int, ...], ...], index: Any) -> list[Any]:
    """A row's entries, u32."""
    return [index.entry(column) for column in zip(*table, strict=True)]


def _wide(table: tuple[tuple[int, ...], ...], index: Any) -> list[Any]:
    """The same, u64."""
    return [entry.to("u64") for entry in _coefficients(table, index)]


def _nearest(x: Any, by: int) -> Any:
    """x / 2**by, to nearest even."""
    return (x + ((x >> by & 1) + ((1 << by - 1) - 1))) >> by


def _kept(x: Any, by: int) -> Any:
    """x / 2**by, to nearest even; where that has more than 24 bits, in even numbers."""
    return (x >= 1 << by + 24).select(_nearest(x, by + 1) << 1, _nearest(x, by))


def _product(x: Any, y: Any) -> Any:
    return _kept(x * y, 23)


def product(x: Any, y: Any) -> Any:
    """The same of u32 below 2^24, which is what an f32 keeps of x * y where that has more than 23 bits."""
    return _product(x.to("u64"), y.to("u64")).to("u32")


def _of_positive(x: Any, result: Any, infinite: Any, zero: Any) -> Any:
    """A function of positive numbers, whose bits are `result`, as a float: infinite of infinity, zero of zeros and
    denormals."""
    word = x.bits("u32")
    result = (word == 0x7F800000).select(infinite, (word >> 31 == 1).select(0xFFC00000, result))
    return x.is_nan().select(word, ((word & 0x7FFFFFFF) < 0x00800000).select(zero, result)).bits("f32")


def _exp2(x: Any) -> Any:
    """Below 2^-24 in size, 1. The fraction has 29 bits; of a negative number it is the complement, so that a whole one
    ends the interval before. Nothing denormal comes out: below -126 it is 0. All numbers have 32 bits: for that the sum
    is split where the last coefficient ends."""
    word = x.bits("u32")
    size, sign = word & 0x7FFFFFFF, (word.bits("i32") >> 31).bits("u32")
    large = size > (sign & 0x42FC0000 | ~sign & 0x42FFFFFF)
    size = (large | (size < 0x33800000)).select(0x3F800000, size)
    mantissa, exponent = size << 8 | 0x80000000, size >> 23
    by = (exponent < 127).select(-exponent + 126, 0)  # to where the point is before all of it
    left = (exponent < 127).select(0, exponent - 126)
    whole = (mantissa >> 1 >> (exponent < 127).select(31, -exponent + 157)) ^ sign
    low = (mantissa << left >> by >> 3) ^ sign
    constant, linear, quadratic, cubic = _coefficients(_EXP2, low >> 24 & 31)
    fraction = low & 0xFFFFFF
    near = fraction >> 6
    slope = linear.product(fraction) >> 1
    curve = _nearest((quadratic << 7) + cubic * near, 7).product((near << 10).mulhi(near << 10))
    total = constant + slope + (curve >> 8)
    up, rest = total >> 5, (total & 31) << 8 | curve & 255
    result = (whole + 126 << 23) + up + (rest + (up & 1) + 0xFFF >> 13)
    result = ((word & 0x7FFFFFFF) < 0x33800000).select(0x3F800000, result)
    return x.is_nan().select(word, large.select(~sign & 0x7F800000, result)).bits("f32")


_LOG2 = (
    (15, 12102179, 12095174, 1925858), (47667825, 11735468, 11378345, 1799053),
    (93912517, 11390291, 10714741, 1610016), (138816594, 11064855, 10111507, 1477533),
    (182455591, 10757500, 9557803, 1359325), (224898847, 10466758, 9048378, 1253542),
    (266210154, 10191316, 8578611, 1158417), (306448312, 9930003, 8144494, 1072666),
    (345667679, 9681753, 7742500, 995087), (383918558, 9445614, 7369567, 924970),
    (421247645, 9220718, 7022931, 861214), (457698312, 9006284, 6700175, 803096),
    (493310964, 8801596, 6399165, 750066), (528123258, 8606005, 6118007, 701755),
    (562170399, 8418918, 5854955, 657310), (595485263, 8239793, 5608532, 616715),
    (628098719, 8068131, 5377341, 579376), (660039693, 7903475, 5160150, 544955),
    (691335339, 7745406, 4955875, 513361), (722011229, 7593536, 4763477, 484038),
    (752091435, 7447506, 4582059, 456830), (781598650, 7306987, 4410807, 431594),
    (810554297, 7171673, 4248984, 408222), (838978616, 7041279, 4095937, 386761),
    (866890752, 6915542, 3950988, 366593), (894308853, 6794217, 3813578, 347636),
    (921250083, 6677075, 3683220, 330396), (947730761, 6563905, 3559471, 313859),
    (973766367, 6454506, 3441820, 298469), (999371610, 6348694, 3329908, 284397),
    (1024560488, 6246298, 3223482, 270890), (1049346329, 6147160, 3121894, 258238),
    (47667912, 11735350, 11363743, 1719989),
    (0, 12102203, 12102094, 1999052), (192, 12102186, 12097614, 1948887),
    (2856, 12102072, 12084310, 1883467), (2856, 12102072, 12084310, 1883467),
    (0, 12102203, 12101979, 2035248), (0, 12102203, 12101979, 2035248), (100, 12102221, 12097323, 2088428),
    (100, 12102221, 12097323, 2088428), (100, 12102221, 12097323, 2088428),
)  # fmt: skip
"""Of each 32nd of a binade c in 2^-30, l in 2^-28, q in 2^-34 and k in 2^-37; then of the upper half of the second one;
then of each 2^-7 above 1, with c in 2^-35, and of each 2^-8 below it, with c in -2^-34."""


def _packed(size: Any, bits: Any, added: Any) -> Any:
    """size, u64, with so many bits after the point, as the bits of an f32, cut off after `added` is added to it: a
    function of one last bit, u64."""
    lost = (-size.clz() + 40).to("u32")
    wide = lost.to("u64")
    return ((lost - bits + 149) << 23) + (size + added(((wide & 0) + 1) << wide) >> wide).to("u32")


def _log2(x: Any) -> Any:
    """Up to 2^-6 below 1 and 2^-5 above it, the cubic is one of the distance to 1: there the logarithm's leading bits
    are zeros, and products are taken of a distance moved up by a multiple of four bits. Denormals are zeros. Rounded
    down; below 1 the size is rounded up so, and just above 1 a last bit is added to what is cut off."""
    one = 0x3F800000
    word = x.bits("u32")
    number = ((word >= 0x00800000) & (word < 0x7F800000) & (word != one)).select(word, 0x40000000)
    below, above = (number >= 0x3F7C0000) & (number < one), (number > one) & (number < 0x3F840000)
    part, row = number & 0x3FFFF, number >> 18 & 31
    row = ((row == 1) & (part >= 0x20000)).select(32, row)
    distance = below.select(-number + one, above.select(number - one, part))
    row = below.select((distance >> 16) + 37, above.select((distance >> 16) + 33, row))
    constant, linear, quadratic, cubic = _wide(_LOG2, row)
    zeros = distance.clz()
    moved = ((below | above) & (zeros > 17)).select(zeros - 14 & 28, 0)
    f, move = distance.to("u64"), moved.to("u64")
    shifted = f << move
    slope = linear * shifted
    inner = _nearest((quadratic << 22) + below.select(cubic * (f - 1), -(cubic * (f * 2 + 1))), 22)
    # Above 1 and elsewhere: 35 bits after the point, and those that it is moved by.
    line = above.select((slope >> 13 << 2) + constant, (slope >> 16) + constant << 5)
    whole = above.select(0, (number >> 23) - 127).bits("i32").to("i64").bits("u64") << 35
    fixed = (line + whole - _product(inner, shifted * f >> 12)).bits("i64")
    # Below 1: 50 bits after the point, of the size.
    exact, square = linear * f << 1, f * f
    cut, coarse = (moved < 14).select(-moved + 14, 0).to("u64"), (moved < 12).select(-moved + 12, 0).to("u64")
    curve = inner * (square >> coarse << coarse)
    unit = ((f & 0) + 1) << -move + 38
    curve = (curve + (unit - 1) >> -move + 38) << -move + 16
    size = (exact >> cut << cut << 2) + curve - (constant << 16)
    negative = below | (fixed < 0)
    result = _packed(
        below.select(size, (fixed < 0).select(-fixed, fixed).bits("u64")),
        below.select(50, moved + 35),
        lambda last: above.select(last, negative.select(last - 1, 0)),
    )
    result = negative.select(result | 1 << 31, result)
    return _of_positive(x, (word == one).select(0, result), infinite=word, zero=0xFF800000)


_SINE = (
    (0, 3294200, 0, 1322), (3292874, 3290232, 3968, 1320), (6577818, 3278340, 7928, 1312),
    (9846914, 3258548, 11864, 1304), (13092288, 3230908, 15778, 1290), (16306122, 3195480, 19650, 1274),
    (19480674, 3152356, 23476, 1256), (22608294, 3101636, 27246, 1234), (25681450, 3043444, 30948, 1210),
    (28692736, 2977924, 34576, 1182), (31634898, 2905224, 38122, 1152), (34500850, 2825532, 41576, 1118),
    (37283686, 2739032, 44928, 1082), (39976702, 2645928, 48176, 1042), (42573412, 2546452, 51304, 1002),
    (45067558, 2440844, 54310, 958),
    (67108864, 0, 80872, 32), (67028028, 161636, 80774, 98), (66785716, 322884, 80482, 162),
    (66382510, 483352, 79996, 226), (65819384, 642664, 79318, 290), (65097694, 800416, 78448, 352),
    (64219178, 956248, 77390, 414), (63185952, 1109776, 76144, 476), (62000504, 1260628, 74716, 536),
    (60665694, 1408448, 73104, 594), (59184734, 1552872, 71320, 652), (57561192, 1693552, 69364, 708),
    (55798980, 1830152, 67242, 762), (53902344, 1962348, 64956, 814), (51875852, 2089812, 62514, 864),
    (49724388, 2212244, 59922, 912),
)  # fmt: skip
"""Sizes in 2^-26 of the sine's coefficients, then of the cosine's, in sixteen parts of an eighth of a turn."""


def _turn(x: Any, cosine: bool) -> Any:
    """Of a turn, 31 bits after the point are kept, which leave an eighth of it and say which function of that is meant,
    with which sign. Where that is near a zero, what the products keep is moved by a multiple of four bits. Cut off."""
    word = x.bits("u32")
    size = word & 0x7FFFFFFF
    size = (size >= 0x4B000000).select(0, size)  # a whole number
    by = -(size >> 23) + 151
    phase = ((size & 0x7FFFFF | 0x800000).to("u64") << 32 >> (by > 63).select(63, by).to("u64")).to("u32")
    quarter, turned = phase >> 29 & 3, phase & 0x1FFFFFFF
    reflected = turned >= 0x10000000
    back = reflected.select((word & 0) + 1, 0)
    reduced = reflected.select(-turned + 0x20000000, turned)
    table = (quarter & 1) ^ back ^ int(cosine)
    sine, zero = table == 0, reduced == 0
    reduced = zero.select(1, reduced)
    index = reduced - back >> 24
    fraction = reduced - (index << 24)
    value = fraction - back
    constant, linear, quadratic, cubic = _wide(_SINE, (table << 4) + index)
    # What falls off the line, but for the square: of the cosine from the part's end, in 2^-33.
    place = (sine.select(value, -value + 0xFFFFFF) & 0xFFFFC0).to("u64")
    inner = _nearest((quadratic - sine.select(0, cubic) << 24) + cubic * place, 17)
    near = (value >> 7).to("u64")
    square = near * near
    # In general 29 bits after the point.
    rounded = value + 8 >> 4
    slope = _kept(linear * ((rounded > 0xFFFFF).select(0xFFFFF, rounded) << 4).to("u64"), 21)
    curve = inner * (square >> 10)
    bias = (curve >= 1 << 47).select((curve & 0) + (1 << 23), 1 << 22)
    curve = (curve > bias).select(curve - bias + ((1 << 29) - 1) >> 29, 0)
    general = (constant << 3) + sine.select(slope, -slope) - (curve << 1)
    # Of the sine's first two parts 34, and those that the first is moved by.
    first = index == 0
    zeros = fraction.clz()
    moved = (first & (zeros > 8)).select(zeros - 8 & 28, 0)
    lead = (first & (zeros > 7)).select(zeros - 7 & 28, 0)
    full = reflected & ((fraction << moved & 0xFFFFF) == 0)
    rounded, most = value + 2 >> 2, ((value >> 22) + 1 << 20) - 1
    held = first.select(
        (fraction << lead) - full.select((word & 0) + 1, 0), (rounded > most).select(most, rounded) << 2
    )
    slope = (
        linear * held.to("u64")
        >> first.select(lead - moved + 18, 20).to("u64")
        << first.select((word & 0) + 2, 4).to("u64")
    )
    cut = (moved < 10).select(-moved + 10, 0)
    by = (-moved - cut + 33).to("u64")
    curve = inner * (square >> cut.to("u64"))
    curve = curve + (curve >> by & 1) + ((((curve & 0) + 1) << by - 1) - 1) >> by
    small = (constant << 8) + slope - curve
    close = sine & (index < 2)
    result = _packed(close.select(small, general), close.select(moved + 34, 29), lambda last: last & 0)
    result = (~sine & (zero | (reduced - back < 46592))).select(0x3F800000, result)
    sign = (quarter >> 1) ^ (quarter & 1 if cosine else word >> 31)
    result = (sine & zero).select(0, result | sign << 31)
    return x.is_nan().select(word, ((word & 0x7FFFFFFF) == 0x7F800000).select(0xFFC00000, result)).bits("f32")


def _sin(x: Any) -> Any:
    """Below 1.5 * 2^-12 in size, a product with what stands for 2 pi."""
    small = (x.to("f64") * (0xC90FD5 * 2.0**-21)).to("f32")
    return ((x.bits("u32") & 0x7FFFFFFF) < 0x39C00000).select(small, _turn(x, cosine=False))


_RCP = (
    (67108864, 2097138, 65462, 1925), (65075262, 1971966, 59693, 1705), (63161283, 1857674, 54582, 1516),
    (61356675, 1753039, 50039, 1352), (59652323, 1657001, 45986, 1210), (58040098, 1568644, 42359, 1086),
    (56512727, 1487171, 39104, 977), (55063683, 1411884, 36174, 882), (53687091, 1342172, 33529, 798),
    (52377649, 1277499, 31136, 724), (51130563, 1217390, 28966, 658), (49941480, 1161426, 26992, 599),
    (48806446, 1109234, 25194, 547), (47721858, 1060483, 23552, 501), (46684427, 1014876, 22050, 459),
    (45691141, 972149, 20673, 421), (44739242, 932065, 19408, 388), (43826196, 894410, 18244, 357),
    (42949672, 858991, 17171, 330), (42107522, 825636, 16181, 305), (41297762, 794186, 15266, 282),
    (40518559, 764500, 14418, 262), (39768215, 736447, 13632, 243), (39045157, 709911, 12902, 226),
    (38347922, 684783, 12223, 210), (37675151, 660966, 11591, 196), (37025580, 638371, 11002, 183),
    (36398027, 616915, 10452, 171), (35791394, 596522, 9938, 160), (35204649, 577124, 9458, 150),
    (34636833, 558658, 9007, 140), (34087042, 541063, 8585, 131),
)  # fmt: skip
"""Of each 32nd of a binade c in 2^-26, l, q and k for f in 2^-23, down from 1."""
_RSQ = (
    (67108864, 1048572, 24555, 606), (66084241, 1001273, 22738, 545), (65105161, 957426, 21104, 491),
    (64168347, 916688, 19629, 445), (63270843, 878759, 18295, 403), (62409975, 843376, 17084, 367),
    (61583317, 810305, 15983, 335), (60788660, 779340, 14978, 306), (60023992, 750298, 14060, 280),
    (59287474, 723016, 13219, 257), (58577418, 697349, 12446, 237), (57892279, 673165, 11735, 218),
    (57230631, 650347, 11080, 201), (56591163, 628789, 10475, 186), (55972661, 608397, 9915, 173),
    (55374006, 589084, 9396, 160), (54794158, 570771, 8914, 149), (54232151, 553388, 8467, 139),
    (53687091, 536870, 8050, 129), (53158141, 521157, 7661, 121), (52644524, 506196, 7298, 113),
    (52145512, 491938, 6959, 105), (51660427, 478336, 6641, 99), (51188632, 465350, 6343, 93),
    (50729532, 452941, 6064, 87), (50282567, 441074, 5802, 82), (49847212, 429717, 5555, 77),
    (49422973, 418838, 5322, 73), (49009384, 408411, 5103, 68), (48606008, 398409, 4897, 65),
    (48212431, 388809, 4702, 61), (47828262, 379589, 4517, 58), (47453132, 741452, 17363, 428),
    (46728614, 708007, 16078, 385), (46036300, 677002, 14922, 347), (45373873, 648196, 13880, 314),
    (44739242, 621376, 12936, 285), (44130517, 596356, 12080, 259), (43545981, 572972, 11301, 236),
    (42984073, 551076, 10591, 216), (42443372, 530541, 9942, 198), (41922574, 511250, 9347, 182),
    (41420490, 493100, 8801, 167), (40936023, 475999, 8298, 154), (40468167, 459864, 7835, 142),
    (40015995, 444621, 7407, 132), (39578648, 430202, 7011, 122), (39155335, 416545, 6644, 113),
    (38745320, 403596, 6303, 105), (38347922, 391304, 5987, 98), (37962506, 379624, 5692, 91),
    (37588482, 368514, 5417, 85), (37225300, 357935, 5160, 80), (36872445, 347852, 4920, 74),
    (36529438, 338235, 4696, 70), (36195829, 329052, 4485, 65), (35871196, 320278, 4288, 61),
    (35555144, 311887, 4102, 58), (35247302, 303855, 3928, 54), (34947319, 296163, 3763, 51),
    (34654868, 288790, 3609, 48), (34369638, 281718, 3462, 45), (34091337, 274930, 3325, 43),
    (33819688, 268410, 3194, 41),
)  # fmt: skip
"""The same of each 32nd of two binades."""
_SQRT = (
    (0, 2097143, 32722, 474), (1032684, 2034529, 29882, 409), (2035417, 1977208, 27431, 356),
    (3010662, 1924474, 25297, 312), (3960563, 1875745, 23425, 275), (4886999, 1830541, 21774, 244),
    (5791627, 1788454, 20308, 218), (6675918, 1749143, 18999, 195), (7541186, 1712315, 17825, 176),
    (8388608, 1677719, 16767, 159), (9219243, 1645139, 15810, 145), (10034053, 1614387, 14940, 132),
    (10833909, 1585296, 14147, 120), (11619604, 1557724, 13422, 110), (12391866, 1531542, 12757, 102),
    (13151360, 1506637, 12145, 94), (13898700, 2965809, 46276, 670), (15359137, 2877259, 42260, 578),
    (16777216, 2796194, 38793, 503), (18156420, 2721617, 35775, 441), (19499783, 2652705, 33129, 389),
    (20809961, 2588776, 30793, 346), (22089298, 2529256, 28720, 308), (23339875, 2473662, 26869, 277),
    (24563549, 2421579, 25208, 249), (25761984, 2372654, 23712, 225), (26936680, 2326579, 22358, 205),
    (28088995, 2283088, 21129, 186), (29220162, 2241948, 20008, 171), (30331303, 2202954, 18982, 156),
    (31423446, 2165927, 18042, 144), (32497533, 2130707, 17176, 133),
)  # fmt: skip
"""Of each 16th of two binades c in 2^-25, up from 1."""


def _down(table: tuple[tuple[int, ...], ...], index: Any, bits: int) -> Any:
    """A function that falls from 1 towards 0.5, by the bits of its argument after 1: the bits of an f32."""
    constant, linear, quadratic, cubic = _wide(table, index >> 18)
    f = (index & 0x3FFFF).to("u64")
    slope = _kept(linear * f, bits)
    inner, even = (quadratic << 18) - cubic * f, f >> 1 << 1
    square = even * even
    curve = ((inner >> 12) * square + ((inner & 0xFFF) * square >> 12)) >> 39
    scale = 18 - bits  # of c; the curve is in units 16 times as large as the quarter of a last bit
    unit = 20 - bits
    return ((constant << scale) - slope + (curve << unit - 5) + (1 << unit - 1) >> unit).to("u32") + 0x3E800000


def _rcp(x: Any) -> Any:
    """Denormals are zeros, also as results."""
    word = x.bits("u32")
    size, sign = word & 0x7FFFFFFF, word & 1 << 31
    exponent = size >> 23
    result = _down(_RCP, size & 0x7FFFFF, 14)
    normal = (result >> 23) + 127 > exponent
    result = normal.select(result + 0x3F800000 - (exponent << 23), 0)
    result = (exponent == 0).select(0x7F800000, result)
    return x.is_nan().select(word, result | sign).bits("f32")


def _halved(index: Any, number: Any) -> Any:
    """Half of the even part of a number's exponent, in its place; index: the number's bits after 1 and the odd part."""
    return ((number - 0x3F800000 - index).bits("i32") >> 1).bits("u32")


def _rsq(x: Any) -> Any:
    """Denormals are zeros."""
    word = x.bits("u32")
    index = word - 0x3F800000 & 0xFFFFFF
    result = _down(_RSQ, index, 13) - _halved(index, word)
    return _of_positive(x, result, infinite=0, zero=word & 1 << 31 | 0x7F800000)


def _sqrt(x: Any) -> Any:
    """Denormals are zeros."""
    word = x.bits("u32")
    index = word - 0x3F800000 & 0xFFFFFF
    constant, linear, quadratic, cubic = _wide(_SQRT, index >> 19)
    f = (index & 0x7FFFF).to("u64")
    slope = linear * f
    slope = slope + (slope >= 1 << 40).select((f & 0) + (1 << 16), 1 << 15) >> 17
    even = f >> 2 << 2
    curve = ((quadratic << 8) - (cubic * f + 767 >> 10)) * (even * even >> 14)
    curve = (curve >= 1 << 47).select(curve + ((1 << 23) - 1) >> 24 << 1, curve + ((1 << 22) - 1) >> 23)
    result = _nearest((constant << 22) + (slope << 19) - (curve << 12), 24).to("u32") + 0x3F800000
    return _of_positive(x, result + _halved(index, word), infinite=word, zero=word & 1 << 31)


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp2": _exp2,
    "log2": _log2,
    "sin": _sin,
    "cos": lambda x: _turn(x, cosine=True),
    "rcp": _rcp,
    "rsq": _rsq,
    "sqrt": _sqrt,
}
KNOWN = frozenset([*((name, "f32") for name in _FUNCTIONS), ("sin", "f16"), ("cos", "f16")])
"""What this module computes: the name that `Value.call` has for it, and the type."""


def function(x: Any, name: str) -> Any:
    """One of KNOWN of x, whose denormals are flushed; NaNs are left to `isa.semantics.reference.nans`."""
    return _FUNCTIONS[name](x) if x.type == "f32" else _FUNCTIONS[name](x.to("f32")).to("f16")
