/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known about the common model APIs, as data: where they are, where
 * the credential goes, which paths stay closed because they would store a
 * box's bytes under somebody's account (gateway case 114), and by which
 * variables their clients find them. A policy names one in a route's
 * `preset`; what the policy says itself comes before it. No registry and no
 * host of code is in the list: those the policy names.
 */
#ifndef AB_POLICY_PRESETS_H
#define AB_POLICY_PRESETS_H

typedef struct ab_preset {
	const char *name; /* NULL ends the table */
	const char *upstream;
	const char *header; /* lower case */
	const char *scheme; /* NULL: the secret alone */
	/* paths below the upstream, NULL-terminated */
	const char *const *closed;
	/* variables that clients read; NULL: there is none. The address gets
	   `url_suffix` behind the route's prefix. */
	const char *url_variable;
	const char *url_suffix;
	const char *key_variable;
} ab_preset;

extern const ab_preset ab_presets[];

/* NULL for NULL and for an unknown name. */
const ab_preset *ab_preset_find(const char *name);

#endif
