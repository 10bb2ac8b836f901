// Written by tools/minimax.py: minimax polynomials by Remez' exchange. __poly_NAME(x): approximates the function of its
// comment on its interval, with at most the absolute errors of the comment (float, double) before rounding.
#pragma once

namespace __own_math {
// (exp(x) - 1 - x - x^2/2) / x^3, x from -0.346574 to 0.346574; 7.8e-9, 9.7e-20
template <class T> __own T __poly_exp(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, 0x1.a1516cfd1180cp-13, 0x1.6d1104f3e672ep-10,
        0x1.1110cb91db484p-7, 0x1.5555192d5ef3ep-5, 0x1.5555555f9ba8bp-3);
    else return __horner(x, 0x1.61cc95004eb3bp-33, 0x1.1f72fd3a15a8cp-29, 0x1.ae6424c0709ccp-26,
        0x1.27e4db67489b3p-22, 0x1.71de3a5c495fdp-19, 0x1.a01a01a6d7a74p-16, 0x1.a01a01a019232p-13,
        0x1.6c16c16c162d6p-10, 0x1.1111111111112p-7, 0x1.5555555555556p-5, 0x1.5555555555555p-3);
}
// (atanh(s)/s - 1 - x/3) / x^2, x = s^2, x from 1.0e-20 to 0.0297316; 5.0e-10, 1.0e-18
template <class T> __own T __poly_atanh(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, 0x1.87d11a192fe08p-4, 0x1.c6beaa6e60947p-4, 0x1.249291141838dp-3,
        0x1.9999998860facp-3);
    else return __horner(x, 0x1.e0be8caaaa868p-5, 0x1.df6ed7f703710p-5, 0x1.11190b5fe1f19p-4, 0x1.3b13949004d49p-4,
        0x1.745d177da5d40p-4, 0x1.c71c71c6e71bfp-4, 0x1.249249249252dp-3, 0x1.999999999999ap-3);
}
// (sin(s)/s - 1) / x, x = s^2, x from 1.0e-20 to 0.623019; 2.9e-11, 1.2e-20
template <class T> __own T __poly_sin(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, 0x1.6db3cb1d3983fp-19, -0x1.a0138800e4bc9p-13,
        0x1.11110dd7dfac6p-7, -0x1.5555555454890p-3);
    else return __horner(x, -0x1.ab0f347029587p-41, 0x1.6121705a37c67p-33, -0x1.ae64540027453p-26,
        0x1.71de3a5455d26p-19, -0x1.a01a01a0198dfp-13, 0x1.1111111111110p-7, -0x1.5555555555555p-3);
}
// (cos(s) - 1 + x/2) / x^2, x = s^2, x from 1.0e-20 to 0.623019; 2.1e-9, 1.4e-18
template <class T> __own T __poly_cos(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, 0x1.9bce341ba711cp-16, -0x1.6c12bfd933a36p-10,
        0x1.55555439cd516p-5);
    else return __horner(x, -0x1.9075ccc2c746fp-37, 0x1.1eeb5dfced0b1p-29, -0x1.27e4fa0d54a27p-22,
        0x1.a01a019f468c1p-16, -0x1.6c16c16c16944p-10, 0x1.5555555555555p-5);
}
// (atan(s)/s - 1) / x, x = s^2, x from 1.0e-20 to 0.173289; 5.3e-10, 1.7e-21
template <class T> __own T __poly_atan(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, 0x1.9ce8d7ef634d3p-5, -0x1.612a877e63920p-4,
        0x1.c5793108b97e4p-4, -0x1.248a0ec1f6a16p-3, 0x1.99997b23aaf13p-3, -0x1.5555554c2e527p-2);
    else return __horner(x, 0x1.8515bbece8817p-7, -0x1.bd62000821972p-6, 0x1.30ad120e8e3c1p-5, -0x1.5fb136c3037cap-5,
        0x1.857b6f32695d6p-5, -0x1.af192ada98f02p-5, 0x1.e1e0d4854ae72p-5, -0x1.11110a8fc8b62p-4,
        0x1.3b13b1044ff8dp-4, -0x1.745d1744a6257p-4, 0x1.c71c71c7189c9p-4, -0x1.249249249245ep-3,
        0x1.9999999999999p-3, -0x1.5555555555555p-2);
}
// (asin(s)/s - 1) / x, x = s^2, x from 1.0e-20 to 0.2525; 4.0e-9, 1.5e-17
template <class T> __own T __poly_asin(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, 0x1.17f7eaec67720p-5, 0x1.144162b03093fp-6, 0x1.fe878b59dbb5ep-6,
        0x1.6d5139d460707p-5, 0x1.3334583b4301ap-4, 0x1.555554ccf6d52p-3);
    else return __horner(x, 0x1.e3cca4bfbbc84p-6, -0x1.05d178385869ep-6, 0x1.28eb7f271a172p-6, 0x1.544d7e563c46cp-8,
        0x1.5446b41a3c1acp-7, 0x1.77d713b8bb08bp-7, 0x1.c9d72009a51fap-7, 0x1.1c4cf03868b4bp-6, 0x1.6e8bb4bd32eeep-6,
        0x1.f1c71c0abe55ap-6, 0x1.6db6db6e5139fp-5, 0x1.3333333332d87p-4, 0x1.5555555555556p-3);
}
// erf(s)/s - 2/sqrt(pi), over x = s^2, x from 1.0e-20 to 1.0; 1.4e-10, 5.2e-19
template <class T> __own T __poly_erf(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, -0x1.5746e2d917503p-17, 0x1.e07e4ddf465a7p-14,
        -0x1.be1dfe67c17c1p-11, 0x1.564547b27948ep-8, -0x1.b82bf7376b2b7p-6, 0x1.ce2f1dff39a2cp-4,
        -0x1.812746ade1b27p-2);
    else return __horner(x, 0x1.0fb2ebf2e251fp-34, -0x1.3c2c97b30c27cp-30, 0x1.f8d8a148fc964p-27,
        -0x1.5f3990b299080p-23, 0x1.b9e23c8d41683p-20, -0x1.f4d21f9dcc03fp-17, 0x1.f9a324e4d4595p-14,
        -0x1.c02db3f4a2a9cp-11, 0x1.565bcd0e44094p-8, -0x1.b82ce31288329p-6, 0x1.ce2f21a042bd7p-4,
        -0x1.812746b0379e7p-2);
}
// (tanh(s)/s - 1) / x, x = s^2, x from 1.0e-20 to 0.4; 1.7e-9, 6.8e-21
template <class T> __own T __poly_tanh(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, 0x1.2a4ece495f2cdp-9, -0x1.10f1e592b059fp-7,
        0x1.649809f0ff221p-6, -0x1.ba07c716a9c5fp-5, 0x1.1110e6b9dea57p-3, -0x1.55555538043d7p-2);
    else return __horner(x, 0x1.e22eaedd57085p-21, -0x1.3d0770a1fb74cp-18, 0x1.f0024218afc0ep-17,
        -0x1.4533bd9a5f4cdp-15, 0x1.95d0c3e4cab30p-14, -0x1.f56a05c39f7acp-13, 0x1.35575e5d9018dp-11,
        -0x1.7da3594731c67p-10, 0x1.d6d3d076061afp-9, -0x1.226e355d19aa0p-7, 0x1.664f4882bc0efp-6,
        -0x1.ba1ba1ba1b97dp-5, 0x1.1111111111111p-3, -0x1.5555555555555p-2);
}
// log2(erfc(x)), x from 1.0 to 4.0; 4.7e-7, 1.6e-17
template <class T> __own T __poly_log2_erfc(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, -0x1.430aca2f4283ep-16, 0x1.e16033d2b81b5p-12,
        -0x1.4560a6f431923p-8, 0x1.0b900c5bcca01p-5, -0x1.3161d81762dd8p-3, -0x1.d809842370361p-1,
        -0x1.9fd99ee5136cdp+0, -0x1.1ae767bb03cb5p-10);
    else return __horner(x, 0x1.078c9145ab557p-45, -0x1.c97bfcf2980e9p-40, 0x1.78a135adc012cp-35,
        -0x1.8715d0c637d4ep-31, 0x1.1f27dfdcb58e4p-27, -0x1.3caedf78f3804p-24, 0x1.0f936cbae8c25p-21,
        -0x1.71448df884ef5p-19, 0x1.90a300e2a0b69p-17, -0x1.5790fba7031e2p-15, 0x1.bf6b73a2d29c7p-14,
        -0x1.8197861b4dd67p-13, 0x1.1988de0d3fc29p-14, 0x1.8bce3f8998fb5p-11, -0x1.3787b0886a431p-9,
        0x1.132852fc0d630p-12, 0x1.c467f5091b906p-6, -0x1.2faa4203c83eep-3, -0x1.d63ec193cc9d1p-1,
        -0x1.a0be83dd20958p+0, -0x1.5a3199ff57ee4p-27);
}
// (1 + 2 s) erfcx(s) - 1, x = (s - 4) / (s + 4), x from -1.0 to 1.0; 1.2e-9, 8.4e-18
template <class T> __own T __poly_erfcx(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, -0x1.0874504c207f6p-17, 0x1.df67605b5820ep-14,
        -0x1.d349378b2e608p-13, -0x1.73eeaa72f5c40p-11, 0x1.4af905a778b3fp-8, -0x1.09e9ea768f358p-6,
        0x1.30697e29a045dp-5, -0x1.0fa4b96544b22p-4, 0x1.7fefd9b90f2d5p-4, -0x1.9ddd110792ea4p-4,
        0x1.16ecbff48fe4cp-4, 0x1.f7f6d2fd14ab4p-7, -0x1.1df1ac5ea888cp-3, 0x1.dd2c8b4dc0af8p-3);
    else return __horner(x, -0x1.1a1240b55f332p-32, 0x1.008a1eab9b2acp-30, 0x1.abe1ad986239dp-29,
        -0x1.a8a6d6bff354dp-27, -0x1.5eb258af77664p-26, 0x1.c8d9c59863cebp-24, 0x1.4bc78a0329657p-24,
        -0x1.b8d835aeab510p-21, 0x1.39bb0349d6204p-22, 0x1.7ef760f932334p-18, -0x1.788742d1be1c6p-17,
        -0x1.99539e89a3971p-16, 0x1.3be05399cc1a7p-13, -0x1.a1df5c869fa9dp-13, -0x1.8d4a9b87a8a1bp-11,
        0x1.49c672ddb4758p-8, -0x1.09623882db6afp-6, 0x1.3079edf52acffp-5, -0x1.0fb06dfe5702fp-4,
        0x1.7fee004e1e286p-4, -0x1.9ddb23c3e8604p-4, 0x1.16ecefcfa4d8ap-4, 0x1.f7f5df66fd613p-7,
        -0x1.1df1ad154a287p-3, 0x1.dd2c8b74febf6p-3);
}
// erfinv(s)/s, x = -log(1 - s^2), x from 1.0e-20 to 4.0; 2.2e-5, 2.2e-5
template <class T> __own T __poly_erfinv(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, 0x1.8383a5f720cb5p-13, -0x1.9a04fa6d8df8ap-9,
        0x1.970456cf7d70dp-7, 0x1.da747c540af32p-3, 0x1.c5c2705207a89p-1);
    else return __horner(x, 0x1.8383a5f720cb5p-13, -0x1.9a04fa6d8df8ap-9, 0x1.970456cf7d70dp-7, 0x1.da747c540af32p-3,
        0x1.c5c2705207a89p-1);
}
// erfcinv(p) x, x = 1 / sqrt(-log(p)), x from 0.03 to 0.72; 2.3e-5, 2.3e-5
template <class T> __own T __poly_erfcinv(T x) {
    if constexpr (sizeof(T) == 4) return __horner(x, -0x1.2248596a9fa17p+0, 0x1.8dbd4e9b0ae9ep+1,
        -0x1.da4d7803d389cp+1, 0x1.5c9d145eb59fap+1, -0x1.57477e0d26d3ap+0, -0x1.3dcb3d7724e7cp-5,
        0x1.001fd7c9e24e0p+0);
    else return __horner(x, -0x1.2248596a9fa17p+0, 0x1.8dbd4e9b0ae9ep+1, -0x1.da4d7803d389cp+1, 0x1.5c9d145eb59fap+1,
        -0x1.57477e0d26d3ap+0, -0x1.3dcb3d7724e7cp-5, 0x1.001fd7c9e24e0p+0);
}
} // namespace __own_math
