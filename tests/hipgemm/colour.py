"""How different two colours look: CIEDE2000 (CIE 142-2001; Sharma, Wu and Dalal 2005), for full colour vision and for
those who lack a kind of cone (Machado, Oliveira and Fernandes 2009, severity 1), and their contrast (WCAG 2)."""

import math
import re
from collections.abc import Sequence

Colour = tuple[float, float, float]

VISION = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip
"""What becomes of linear RGB."""
_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
_WHITE = (0.95047, 1.0, 1.08883)


def _times(matrix: Sequence[Sequence[float]], v: Colour) -> Colour:
    x, y, z = (sum(m * c for m, c in zip(row, v, strict=True)) for row in matrix)
    return x, y, z


def linear(text: str) -> Colour:
    """`#rrggbb` as light."""
    r, g, b = (int(text[k : k + 2], 16) / 255 for k in (1, 3, 5))
    x, y, z = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (r, g, b))
    return x, y, z


def contrast(one: str, other: str) -> float:
    low, high = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(t), strict=True)) for t in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


def lab(text: str, vision: str = "full") -> Colour:
    r, g, b = (min(1.0, max(0.0, c)) for c in _times(VISION[vision], linear(text)))
    ratios = (c / w for c, w in zip(_times(_XYZ, (r, g, b)), _WHITE, strict=True))
    x, y, z = (t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29 for t in ratios)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one: Colour, other: Colour) -> float:
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25.0**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = math.degrees(math.atan2(b1, a1)) % 360, math.degrees(math.atan2(b2, a2)) % 360
    turn = h2 - h1
    if c1 * c2 == 0:
        turn, hue = 0.0, h1 + h2
    else:
        turn -= 360 if turn > 180 else -360 if turn < -180 else 0
        hue = (h1 + h2) / 2 if abs(h1 - h2) <= 180 else (h1 + h2 + (360 if h1 + h2 < 360 else -360)) / 2
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    t = (
        1 - 0.17 * math.cos(math.radians(hue - 30)) + 0.24 * math.cos(math.radians(2 * hue))
        + 0.32 * math.cos(math.radians(3 * hue + 6)) - 0.2 * math.cos(math.radians(4 * hue - 63))
    )  # fmt: skip
    dl = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * t)
    bend = 2 * math.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    rotation = -math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2)))) * bend
    return math.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh)


def difference(one: str, other: str, vision: str) -> float:
    return ciede2000(lab(one, vision), lab(other, vision))


def variables(page: str, *, dark: bool) -> dict[str, str]:
    """Colours of a page's style sheet by the names of their variables, as a light or a dark system has them."""
    style = page[page.index("<style>") : page.index("</style>")]
    mark = "@media (prefers-color-scheme: dark) {"
    light, night = "", ""
    while mark in style:
        before, _, style = style.partition(mark)
        own, _, style = style.partition("}")
        light, night = light + before, night + own
    found = re.compile(r"(--[\w]+): (#[0-9a-f]{6})\b")
    return {**dict(found.findall(light + style)), **(dict(found.findall(night)) if dark else {})}
