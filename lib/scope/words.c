/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words: the names of tools and arguments taken apart, and the tables of what
 * the parts mean. A table is text, words between spaces, so that a reviewer
 * reads words.
 */
#include "config.h"

#include <string.h>

#include "policy/policy.h"
#include "scope/internal.h"

/* In the order of ab_policy_scope_kinds. */
static const char *const kind_words[] = {
	/* database */
	" airtable alloydb arangodb athena bigquery cassandra chromadb "
	"clickhouse cockroach cockroachdb cosmosdb couchbase couchdb cypher "
	"database databases databricks db dbs ddl dml duckdb dynamo dynamodb "
	"firestore hasura influx influxdb mariadb memcached migrate migration "
	"migrations milvus mongo mongodb mssql mysql neo4j neon opensearch "
	"oracle pg pgbouncer pgvector pinecone planetscale postgres "
	"postgresql prisma psql qdrant rds redis redshift scylla scylladb "
	"snowflake sql sqlite sqlite3 sqlserver supabase surrealdb tidb "
	"timescale trino turso valkey weaviate ",
	/* secrets */
	" 1password akeyless apikey apikeys bitwarden conjur credential "
	"credentials cred creds cyberark doppler infisical keepass keychain "
	"keyring keystore keyvault kms kubeseal lastpass onepassword passbolt "
	"passwd password passwords secret secretmanager secrets "
	"secretsmanager sops ssm vault ",
	/* deployment */
	" ansible appengine argo argocd beanstalk cloudformation cloudrun "
	"container containers coolify crossplane deploy deployed deployer "
	"deploying deployment deployments deploys docker dokku ecs eks "
	"fargate flux fly flyctl flyio gke helm heroku infra infrastructure "
	"k8s kamal knative kube kubectl kubernetes kustomize lambda netlify "
	"nomad openshift opentofu pod podman pods promote provision "
	"provisioning pulumi railway redeploy release releases rollback "
	"rollout rollouts ship skaffold spinnaker stack stacks tekton "
	"terraform terragrunt tofu undeploy vercel wrangler ",
	/* observability */
	" alert alerting alertmanager alerts apm betterstack bugsnag "
	"cloudwatch coralogix dashboard dashboards datadog dynatrace elastic "
	"elasticsearch grafana graylog honeycomb incident incidents instana "
	"jaeger kibana logging logql logs logstash logtail loki metric "
	"metrics monitor monitoring monitors nagios newrelic nrql "
	"observability opensearch opentelemetry opsgenie otel pagerduty "
	"papertrail prometheus promql pyroscope rollbar sentry signoz slo "
	"slos splunk stackdriver sumologic telemetry tempo traces tracing "
	"uptime victoriametrics zabbix zipkin ",
};

/* In the same order: common words that say nothing beside another one. */
static const char *const bare_words[] = {
	" collection collections column columns queries query row rows schema "
	"schemas table tables transaction transactions ",
	" key keys token tokens ",
	" cluster clusters instance instances machine machines replica "
	"replicas service services ",
	" log trace ",
};

static const char verbs[] =
	" add all any api app apply backup by call cat check cleanup clone copy "
	"create delete describe destroy diff do drop dump edit exec execute "
	"export fetch find for from get help import info insert kill ls key "
	"keys list load make my new of prod production push put pull query "
	"raw read remove reset restart restore rotate run save scale search "
	"select set shell show sh start stat staging status stop store sync "
	"tail test to truncate update upgrade use value values version watch "
	"write ";

static const char writing[] =
	" append chgrp chmod chown create edit insert make mkdir mkfifo mknod "
	"modify multiedit overwrite put replace rewrite save screenshot "
	"setfacl tee touch truncate update upload write ";

static const char patching[] = " apply patch patches ";

/* They read one place and write another, or do either. */
static const char copying[] =
	" autofix bzip2 clone copy cp dd download export fix format gunzip "
	"gzip init install link ln refactor reformat restore revert rsync "
	"scaffold sed symlink sync tar unpack untar unxz unzip xz zip ";

/* What such a tool is given is not there afterwards. */
static const char writing_away[] =
	" clean cleanup delete erase move mv purge remove rename rm rmdir "
	"shred unlink wipe ";

static const char into_words[] =
	" dest destination dst into out outdir outfile output outputs "
	"save sink to ";

static const char from_words[] =
	" base from in infile input inputs origin original reference source "
	"src template ";

static const char text_words[] =
	" body code comment content contents data description expression "
	"find instruction instructions message new note notes old pattern "
	"prompt query reason regex replacement search string summary text "
	"title value ";

static const char box_words[] = " agentbox agentboxes box boxes microvm "
				"microvms peer peers sandbox sandboxes vm vms ";

static const char target_words[] =
	" account agent app application bucket catalog cluster container "
	"context database databases db dbname deployment dest destination dsn "
	"env environment host hostname hosts instance keyspace machine mount "
	"namespace namespaces node ns pod project schema server servers service "
	"services stack target targets tenant upstream url vault workspace ";

/* What is left alone. */
static const char except_words[] =
	" except exclude excluded excludes excluding ignore ignored ignores "
	"omit skip ";

static const char path_words[] = " cwd dir directory dst file filename "
				 "filepath files folder path paths ";
/* Beside these, where a tool that writes would do so. */
static const char target_paths[] = " link location name root target targets "
				   "uri uris url urls workdir ";

static bool is_in(const char *table, const char *w, size_t n)
{
	char word[34];

	if (n == 0 || n > sizeof(word) - 3)
		return false;
	word[0] = ' ';
	memcpy(word + 1, w, n);
	word[n + 1] = ' ';
	word[n + 2] = '\0';
	return strstr(table, word) != NULL;
}

static bool is_of_kind(const char *const *tables, const char *kind,
		       const char *w, size_t n)
{
	for (size_t i = 0; ab_policy_scope_kinds[i]; i++)
		if (strcmp(kind, ab_policy_scope_kinds[i]) == 0)
			return is_in(tables[i], w, n);
	return false;
}

bool ab_scope_is_kind_word(const char *kind, const char *w, size_t n)
{
	return is_of_kind(kind_words, kind, w, n);
}

bool ab_scope_is_bare_word(const char *kind, const char *w, size_t n)
{
	return is_of_kind(bare_words, kind, w, n);
}

bool ab_scope_is_verb(const char *w, size_t n)
{
	return is_in(verbs, w, n);
}

enum ab_scope_writes ab_scope_is_writing(const char *w, size_t n)
{
	return is_in(writing_away, w, n) ? AB_WRITES_AWAY :
	       is_in(patching, w, n)	 ? AB_WRITES_PATCH :
	       is_in(writing, w, n)	 ? AB_WRITES :
	       is_in(copying, w, n)	 ? AB_WRITES_MAYBE :
					   AB_WRITES_NOT;
}

bool ab_scope_is_box_word(const char *w, size_t n)
{
	return is_in(box_words, w, n);
}

bool ab_scope_is_target_word(const char *w, size_t n)
{
	return is_in(target_words, w, n);
}

/* --- taking apart --------------------------------------------------------- */

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_hump(const struct ab_plain *p, size_t i)
{
	char c = p->c[i];
	char before = p->c[i - 1];
	bool lower_next = i + 1 < p->n && p->c[i + 1] >= 'a' &&
			  p->c[i + 1] <= 'z';

	if (!is_upper(c))
		return false;
	/* fooBar, and the B of HTTPBar */
	return !is_upper(before) || lower_next;
}

static void end_word(struct ab_scope_words *w, size_t begin, size_t end)
{
	if (begin == end)
		return;
	if (w->count == AB_SCOPE_MAX_WORDS) {
		w->is_cut = true;
		return;
	}
	w->words[w->count] = w->buf + begin;
	w->lens[w->count++] = end - begin;
}

void ab_scope_split(struct ab_scope_words *w, const char *text, size_t n)
{
	unsigned char room[7 * AB_SCOPE_MAX_TOOL + 64];
	struct ab_arena arena;
	struct ab_plain p;
	size_t begin = 0;
	size_t used = 0;

	w->count = 0;
	w->is_foreign = false;
	w->is_cut = n > AB_SCOPE_MAX_TOOL;
	if (w->is_cut)
		n = AB_SCOPE_MAX_TOOL;
	ab_arena_init(&arena, room, sizeof(room));
	if (!ab_scope_plain(&arena, text, n, &p)) {
		w->is_cut = true;
		return;
	}
	w->is_foreign = p.mark != NULL;
	for (size_t i = 0; i < p.n; i++) {
		bool word = ab_scope_is_alnum(p.c[i]);

		/* one character may stand for several */
		if (used == AB_SCOPE_MAX_TOOL) {
			w->is_cut = true;
			return;
		}
		if (!word || (used > begin && is_hump(&p, i))) {
			end_word(w, begin, used);
			begin = used;
		}
		if (word)
			w->buf[used++] = ab_scope_fold(p.c[i]);
	}
	end_word(w, begin, used);
}

/* --- keys ----------------------------------------------------------------- */

static bool is_around(const char *w, size_t n)
{
	return is_in(" id ids name names ref refs uuid slug target source src "
		     "dest destination from to other remote my the parent child "
		     "agent new old which number num nr index ",
		     w, n);
}

/* sandbox_id, targetSandbox, box, vm_name: all words are about it. */
static bool names_box(const struct ab_scope_words *w)
{
	size_t found = 0;

	for (size_t i = 0; i < w->count; i++) {
		if (ab_scope_is_box_word(w->words[i], w->lens[i]))
			found++;
		else if (!is_around(w->words[i], w->lens[i]))
			return false;
	}
	return found > 0;
}

static bool is_word(const struct ab_scope_words *w, const char *s)
{
	return w->count == 1 && w->lens[0] == strlen(s) &&
	       memcmp(w->words[0], s, w->lens[0]) == 0;
}

static bool names_tool(const struct ab_scope_words *w)
{
	static const char *const ends[] = { "tool", "server", "function",
					    "recipient", "method", NULL };

	for (size_t i = 0; i < w->count; i++) {
		bool known = is_in(" name mcp ", w->words[i], w->lens[i]);

		for (size_t j = 0; ends[j]; j++)
			known |= w->lens[i] == strlen(ends[j]) &&
				 memcmp(w->words[i], ends[j], w->lens[i]) == 0;
		if (!known)
			return false;
	}
	return w->count > 0 && !is_word(w, "name") && !is_word(w, "server");
}

static bool has_word(const struct ab_scope_words *w, const char *table)
{
	for (size_t i = 0; i < w->count; i++)
		if (is_in(table, w->words[i], w->lens[i]))
			return true;
	return false;
}

/* sandboxid and the like, without a seam */
static bool names_box_glued(const struct ab_scope_words *w)
{
	return w->count == 1 &&
	       is_in(" sandboxid sandboxname sandboxids boxid boxname vmid "
		     "vmname peerid ",
		     w->words[0], w->lens[0]);
}

enum ab_scope_key ab_scope_key(const char *key, size_t n)
{
	struct ab_scope_words w;

	ab_scope_split(&w, key, n);
	if (names_box(&w) || names_box_glued(&w))
		return AB_KEY_BOX;
	if (names_tool(&w))
		return AB_KEY_TOOL;
	if (is_word(&w, "id") || is_word(&w, "ids") || is_word(&w, "name") ||
	    is_word(&w, "names"))
		return AB_KEY_NAME;
	if (has_word(&w, target_words))
		return AB_KEY_TARGET;
	return has_word(&w, path_words) ? AB_KEY_PATH : AB_KEY_PLAIN;
}

/*
 * "output_file" is written and "source_path" is read, whatever they are; what a
 * key ends with says what it is: "file_text" is text, "text_file" is a file.
 */
enum ab_scope_place ab_scope_place(const char *key, size_t n)
{
	struct ab_scope_words w;

	ab_scope_split(&w, key, n);
	if (has_word(&w, except_words) ||
	    (w.count && is_in(text_words, w.words[w.count - 1],
			      w.lens[w.count - 1])))
		return AB_PLACE_TEXT;
	if (has_word(&w, into_words))
		return AB_PLACE_INTO;
	if (has_word(&w, from_words))
		return AB_PLACE_FROM;
	if (has_word(&w, path_words) || has_word(&w, target_words) ||
	    has_word(&w, target_paths))
		return AB_PLACE_PATH;
	return has_word(&w, text_words) ? AB_PLACE_TEXT : AB_PLACE_OTHER;
}
