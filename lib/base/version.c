/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What this build is: version, build id, features. It claims nothing that is
 * not compiled in. Spec: base.h.
 */
#include "config.h"

#include <string.h>

#include "agentbox/base.h"
#include "base/attr.h"

#ifndef AB_BUILD_ID
#include "build-id.h"
#endif

static const char *const features[] = {
#ifdef HAVE_ARCHIVES
	"archives",
#endif
#ifdef HAVE_GATEWAY
	"gateway",
#endif
	"audit", "box", "guard", "peering", "policy", "shield",
	"snapshot"
};

const char *agentbox_version(void)
{
	return PACKAGE_VERSION;
}

const char *agentbox_build_id(void)
{
	return AB_BUILD_ID;
}

int32_t agentbox_has_feature(const char *name)
{
	for (size_t i = 0; name && i < AB_ARRAY_LEN(features); i++) {
		if (strcmp(name, features[i]) == 0)
			return 1;
	}
	return 0;
}
