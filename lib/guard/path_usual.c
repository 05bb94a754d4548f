/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where files of secrets and of configuration are when a variable says so
 * that the text did not set: what "$KUBECONFIG" names is what ~/.kube/config
 * is, wherever that may be. Source: the manual of each program; XDG Base
 * Directory Specification.
 */
#include "config.h"

#include "guard/path.h"

#include <string.h>

#include "base/attr.h"

/* Below the home directory. */
static const struct {
	const char *name, *path;
} usual[] = {
	{ "AWS_CONFIG_FILE", ".aws/config" },
	{ "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials" },
	{ "AZURE_CONFIG_DIR", ".azure" },
	{ "CLOUDSDK_CONFIG", ".config/gcloud" },
	{ "DOCKER_CONFIG", ".docker" },
	{ "GH_CONFIG_DIR", ".config/gh" },
	{ "GIT_CONFIG_GLOBAL", ".gitconfig" },
	{ "GNUPGHOME", ".gnupg" },
	{ "GOOGLE_APPLICATION_CREDENTIALS",
	  ".config/gcloud/application_default_credentials.json" },
	{ "KUBECONFIG", ".kube/config" },
	{ "NETRC", ".netrc" },
	{ "NPM_CONFIG_USERCONFIG", ".npmrc" },
	{ "PGPASSFILE", ".pgpass" },
	{ "XDG_CONFIG_HOME", ".config" },
	{ "XDG_DATA_HOME", ".local/share" },
};

const char *ab_path_usual(const struct ab_hole *h)
{
	if (!h->name || h->origin || !memchr("ACDGKNPX", *h->name, 8))
		return NULL;
	for (size_t i = 0; i < AB_ARRAY_LEN(usual); i++) {
		const char *name = usual[i].name;

		/* GITHUB_OUTPUT and its kind come often */
		if (name[0] == h->name[0] && name[1] == h->name[1] &&
		    name[2] == h->name[2] && !strcmp(name, h->name))
			return usual[i].path;
	}
	return NULL;
}
