/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * First in what a test gives functions of its own for those of libc: fortified
 * headers would have those of libc in line (feature_test_macros(7)). Here, for
 * -U on a command line comes before the -D of whoever builds a package.
 */
#undef _FORTIFY_SOURCE
