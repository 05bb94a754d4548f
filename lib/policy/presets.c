/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of presets. Spec: policy/presets.h, agentbox-policy(5). */
#include "config.h"

#include "policy/presets.h"

#include <stddef.h>
#include <string.h>

/*
 * Files that outlive the request, other people's among them; what manages
 * accounts; requests inside of requests; and what gives out a credential of
 * the account, which would work outside of the box and past its gateway. "*"
 * is any one segment.
 */
static const char *const anthropic_closed[] = {
	"/v1/files", "/v1/organizations", "/v1/skills", "/v1/oauth",
	"/api/oauth/claude_cli", NULL
};
static const char *const openai_closed[] = {
	"/v1/files",  "/v1/uploads", "/v1/vector_stores", "/v1/containers",
	"/v1/evals",  "/v1/fine_tuning", "/v1/organization", "/v1/projects",
	"/v1/batches", "/v1/skills", "/v1/realtime/client_secrets",
	"/v1/realtime/sessions", "/v1/realtime/transcription_sessions",
	"/v1/chatkit/sessions", NULL
};
/* of every version; and each of its methods has a second path, by its name */
static const char *const google_closed[] = {
	"/upload",    "/resumable",  "/download",    "/batch",
	"/*/files",   "/*/corpora",  "/*/tunedModels",
	"/*/fileSearchStores",	     "/*/auth_tokens",
	"/*/openai/files",	     "/*/openai/batches", "/$rpc",
	"/%24rpc", NULL
};
static const char *const files_closed[] = {
	"/v1/files", "/v1/batches", "/openai/v1/files", "/openai/v1/batches",
	"/v1/batch", "/v1/libraries", "/v1/keys", "/v1/api-keys",
	"/v1/management-keys", "/v1/auth/keys", "/v1/byok",
	"/v1/realtime/client_secrets", "/v1/realtime/sessions", NULL
};

const ab_preset ab_presets[] = {
	{ "anthropic", "https://api.anthropic.com", "x-api-key", NULL,
	  anthropic_closed, "ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY" },
	{ "openai", "https://api.openai.com", "authorization", "Bearer",
	  openai_closed, "OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY" },
	{ "gemini", "https://generativelanguage.googleapis.com",
	  "x-goog-api-key", NULL, google_closed, "GOOGLE_GEMINI_BASE_URL", "",
	  "GEMINI_API_KEY" },
	{ "mistral", "https://api.mistral.ai", "authorization", "Bearer",
	  files_closed, NULL, NULL, "MISTRAL_API_KEY" },
	{ "groq", "https://api.groq.com", "authorization", "Bearer",
	  files_closed, "GROQ_BASE_URL", "", "GROQ_API_KEY" },
	{ "openrouter", "https://openrouter.ai/api", "authorization",
	  "Bearer", files_closed, NULL, NULL, "OPENROUTER_API_KEY" },
	{ "deepseek", "https://api.deepseek.com", "authorization", "Bearer",
	  files_closed, NULL, NULL, "DEEPSEEK_API_KEY" },
	{ "xai", "https://api.x.ai", "authorization", "Bearer", files_closed,
	  NULL, NULL, "XAI_API_KEY" },
	{ .name = NULL }
};

const ab_preset *ab_preset_find(const char *name)
{
	for (const ab_preset *p = ab_presets; name && p->name; p++)
		if (strcmp(p->name, name) == 0)
			return p;
	return NULL;
}
