/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the content scan looks for: one row for each spelling of a rule, by
 * what it belongs to. Tier H is sure by its form; tier M needs words around
 * it, entropy or a look at samples, and counts in strict snapshots only.
 *
 * T is a shape (content_shape.c has the notation) with the least entropy of
 * its varying part, in tenths of a bit per byte; V is an anchor and the
 * function that looks around it.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define T(id, tier, shape, entropy, flags) \
	{ id, tier, shape, NULL, entropy, flags }
#define V(id, tier, anchor, verify, entropy, flags) \
	{ id, tier, anchor, ab_verify_##verify, entropy, flags }

#define FOLD AB_ROW_FOLD
#define MIXED AB_ROW_MIXED
#define CASES AB_ROW_CASES
#define DIGIT AB_ROW_DIGIT
#define CHOSEN AB_ROW_CHOSEN
#define LONELY AB_ROW_LONELY
#define APART AB_ROW_APART
#define NOT_LOCK AB_ROW_NOT_LOCK
#define SHORT AB_ROW_SHORT
#define TEXT AB_ROW_TEXT
#define CHECKSUM AB_ROW_CHECKSUM
#define LITERAL AB_ROW_LITERAL
#define NEEDS AB_ROW_NEEDS
#define WORD AB_ROW_WORD
#define CLEARS AB_ROW_CLEARS

/* What makes a finding together: the number of a slot. */
#define TWILIO 1
#define MAILGUN 2
#define K8S 3
#define TERRAFORM 4
#define DATADOG 5

const ab_content_row ab_content_rows[] = {
	/* cloud */
	T("aws-access-key-id", 'H', "!AKIA%2{16}!", 25, 0),
	T("aws-access-key-id", 'H', "!ASIA%2{16}!", 25, 0),
	T("aws-access-key-id", 'H', "!ABIA%2{16}!", 25, 0),
	T("aws-access-key-id", 'H', "!ACCA%2{16}!", 25, 0),
	V("aws-secret-key-assign", 'M', "aws%w", aws_secret, 40, FOLD | CASES),
	V("aws-secret-key-assign", 'M', "secretaccesskey", aws_secret, 40, FOLD | CASES),
	V("aws-secret-key-assign", 'M', "secret_access_key", aws_secret, 40, FOLD | CASES),
	V("aws-secret-key-assign", 'M', "aws.secret", aws_secret, 40, FOLD | CASES),
	V("aws-secret-key-assign", 'M', "s3a.secret.key", aws_secret, 40, CASES),
	/* what every session's token begins with, in base64: "origin_ec" */
	T("aws-session-token", 'H', "IQoJb3JpZ2luX2Vj%B{100,}", 40, CASES),
	T("aws-bedrock-long", 'H', "!ABSK%B{109,269}", 40, APART),
	T("aws-bedrock-short", 'H', "bedrock-api-key-"
	  "YmVkcm9jay5hbWF6b25hd3MuY29t", 0, LITERAL),
	T("aws-mws", 'H', "amzn.mws.%h{8}-%h{4}-%h{4}-%h{4}-%h{12}", 25, 0),
	T("gcp-api-key", 'M', "!AIza%W{35}!", 35, CASES),
	T("gcp-api-key", 'M', "!AQ.Ab8RN6%W{30,}", 35, CASES | DIGIT),
	T("gcp-oauth-secret", 'H', "!GOCSPX-%W{28}!", 30, MIXED),
	T("gcp-oauth-access", 'H', "!ya29.%W{30,}", 30, MIXED),
	T("gcp-oauth-refresh", 'M', "!1//0%W{40,}", 35, CASES | DIGIT),
	T("firebase-server-key", 'H', ":APA91b%W{134}", 40, MIXED),
	T("gcp-service-account-json", 'H', "private_key_id%q{1,4}%s{0,20}:%s{0,20}%q{1,4}%h{40}%q", 28, 0),
	T("azure-storage-connstr", 'H', "AccountKey=%B{86}==", 40, CASES),
	T("azure-storage-connstr", 'H', "SharedAccessKey=%B{43}=", 40, CASES),
	/* of Hadoop's and Spark's property of an account */
	T("azure-storage-connstr", 'H', ".core.windows.net=%B{86}==", 40, CASES),
	T("azure-storage-connstr", 'H', ".core.windows.net%b{1,4}%B{86}==", 40, CASES),
	T("azure-ai-key", 'H', "JQQJ99%A{26}!", 30, MIXED),
	V("azure-sas", 'M', "sig=", azure_sas, 40, CASES),
	V("azure-ad-secret", 'H', "%dQ~%t", azure_ad, 35, MIXED),
	V("azure-devops-pat-new", 'H', "AZDO", azure_devops, 40, MIXED),
	T("digitalocean", 'H', "!doo_v1_%h{64}!", 30, 0),
	T("digitalocean", 'H', "!dop_v1_%h{64}!", 30, 0),
	T("digitalocean", 'H', "!dor_v1_%h{64}!", 30, 0),
	T("cloudflare-origin-ca", 'H', "!v1.0-%h{24}-%h{146}!", 30, 0),
	T("cloudflare-token", 'M', "x-auth-key%q{0,2}%b{0,4}:%b{0,4}%q{0,1}%h{37}!", 28, FOLD | DIGIT),
	T("cloudflare-token", 'M', "cloudflare_api_token%q{0,1}%b{0,8}=%b{0,8}%q{0,1}%W{40}!", 35, FOLD | CASES),
	T("cloudflare-token", 'M', "cloudflare_api_token%q{0,1}%b{0,8}:%b{0,8}%q{0,1}%W{40}!", 35, FOLD | CASES),
	/* of a tunnel: the account, the tunnel and its secret as JSON */
	T("cloudflare-token", 'M', "!eyJhIjoi%E{100,}", 35, CASES | DIGIT),
	T("fly-io", 'H', "!fo1_%W{43}!", 30, MIXED),
	T("fly-io", 'H', "!fm1a_%B{100,}", 30, MIXED),
	T("fly-io", 'H', "!fm1r_%B{100,}", 30, MIXED),
	T("fly-io", 'H', "!fm2_%B{100,}", 30, MIXED),
	T("alibaba-ak", 'H', "!LTAI%A{20}!", 30, MIXED | APART),
	T("heroku-v2", 'H', "!HRKU-AA%W{58}!", 30, MIXED),
	T("pulumi", 'H', "!pul-%h{40}!", 28, 0),
	T("databricks", 'H', "!dapi%h{32}!", 28, 0),
	T("databricks", 'H', "!dose%h{32}!", 28, 0),
	V("terraform-cloud", 'H', ".atlasv1.", terraform, 30, MIXED),

	/* code hosts */
	T("github-pat-classic", 'H', "!ghp_%A{36}!", 35, CHECKSUM | MIXED),
	T("github-oauth", 'H', "!gho_%A{36}!", 35, CHECKSUM | MIXED),
	T("github-app", 'H', "!ghu_%A{36,255}!", 35, CHECKSUM | MIXED),
	T("github-app", 'H', "!ghs_%A{36,255}!", 35, CHECKSUM | MIXED),
	T("github-refresh", 'H', "!ghr_%A{36,76}!", 35, CHECKSUM | MIXED),
	T("github-fine", 'H', "!github_pat_%A{22}_%A{59}!", 35, MIXED),
	T("gitlab-pat", 'H', "!glpat-%W{20,}", 30, 0),
	T("gitlab-pat", 'M', "private-token%q{0,2}%b{0,4}:%b{0,4}%q{0,1}%W{20}!", 30, FOLD | CASES | DIGIT),
	T("gitlab-other", 'H', "!gldt-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glft-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glrt-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glptt-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glcbt-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glagent-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!gloas-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glsoat-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glimt-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glffct-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glrtr-%W{20,}", 30, MIXED),
	T("gitlab-other", 'H', "!glwt-%W{20,}", 30, MIXED),
	T("gitlab-runner-old", 'H', "!GR1348941%W{20}!", 30, 0),
	T("bitbucket-app-pw", 'H', "!ATBB%A{32}!", 30, MIXED | SHORT),

	/* services */
	T("atlassian-api", 'H', "!ATATT3%={180,200}", 30, MIXED),
	T("atlassian-api", 'H', "!ATCTT3%={150,200}", 30, MIXED),
	T("atlassian-api", 'H', "!ATSTT3%={150,200}", 30, MIXED),

	/* code hosts */
	V("url-basic-auth-git", 'H', "://%p", url_git, 0, 0),
	V("url-basic-auth-git", 'M', "://%p", url_any, 20, 0),

	/* models */
	T("anthropic", 'H', "!sk-ant-api%d{2}-%W{80,}", 30, MIXED),
	T("anthropic", 'H', "!sk-ant-admin%d{2}-%W{80,}", 30, MIXED),
	T("anthropic", 'H', "!sk-ant-oat%d{2}-%W{80,}", 30, MIXED),
	T("anthropic", 'H', "!sk-ant-ort%d{2}-%W{80,}", 30, MIXED),
	T("anthropic", 'H', "!sk-ant-sid%d{2}-%W{80,}", 30, MIXED),
	V("openai-project", 'H', "T3BlbkFJ", openai, 30, MIXED),
	T("huggingface", 'H', "!hf_%L{34}!", 35, CASES),
	T("huggingface", 'H', "!hf_oauth_%A{30,}", 30, MIXED),
	T("huggingface-org", 'H', "!api_org_%L{34}!", 30, CASES),
	T("openrouter", 'H', "!sk-or-v1-%h{64}!", 30, 0),
	T("groq", 'H', "!gsk_%A{52}!", 30, MIXED),
	T("perplexity", 'H', "!pplx-%A{48}!", 30, 0),
	T("xai", 'H', "!xai-%A{80}!", 30, MIXED),
	T("replicate", 'M', "!r8_%A{37}!", 35, CASES | DIGIT),
	T("tavily", 'H', "!tvly-dev-%A{20,}", 30, 0),
	T("tavily", 'H', "!tvly-prod-%A{20,}", 30, 0),
	T("tavily", 'H', "!tvly-%A{20,}", 30, 0),
	T("firecrawl", 'M', "!fc-%h{32}!", 30, NOT_LOCK | DIGIT),
	T("langsmith", 'H', "!lsv2_pt_%h{32}_%h{10}!", 30, 0),
	T("langsmith", 'H', "!lsv2_sk_%h{32}_%h{10}!", 30, 0),
	T("e2b", 'H', "!e2b_%h{40}!", 28, 0),
	T("cerebras", 'H', "!csk-%l{48}!", 30, DIGIT),
	T("elevenlabs", 'M', "!sk_%h{48}!", 30, DIGIT),
	T("fireworks", 'M', "!fw_%A{22,24}!", 35, CASES | DIGIT),
	T("jina", 'H', "!jina_%h{32}%W{28}!", 30, MIXED),
	T("langfuse", 'H', "!sk-lf-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}!", 25, 0),
	/* of several that speak the same protocol */
	T("model-key", 'M', "!sk-%h{32}!", 28, NOT_LOCK | DIGIT),
	V("model-key", 'M', "!sk-%A", model_key, 35, CASES | DIGIT),
	T("nvidia", 'H', "!nvapi-%W{60,70}", 35, MIXED),
	T("pinecone", 'H', "!pcsk_%A{5,6}_%A{63}!", 30, MIXED),
	T("together", 'H', "!tgp_v1_%W{43}!", 30, MIXED),
	T("voyage", 'M', "!pa-%W{43}!", 35, CASES | DIGIT),
	T("wandb-key", 'H', "!wandb_v1_%W{40,}", 30, MIXED),
	V("wandb-netrc", 'H', "api.wandb.ai", wandb, 0, LITERAL),

	/* chat */
	T("slack-bot", 'H', "!xoxb-%d{8,14}-%a{18,}", 30, 0),
	T("slack-user", 'H', "!xoxp-%d{10,13}-%d{10,13}-%d{10,13}-%a{28,34}", 30, 0),
	T("slack-user", 'H', "!xoxe-%d{10,13}-%d{10,13}-%d{10,13}-%a{28,34}", 30, 0),
	V("slack-legacy", 'H', "xoxa-", slack_legacy, 28, 0),
	V("slack-legacy", 'H', "xoxr-", slack_legacy, 28, 0),
	V("slack-legacy", 'H', "xoxo-", slack_legacy, 28, 0),
	V("slack-legacy", 'H', "xoxs-", slack_legacy, 28, 0),
	T("slack-config", 'H', "!xoxe.xoxb-%d-%U{100,}", 30, 0),
	T("slack-config", 'H', "!xoxe.xoxp-%d-%U{100,}", 30, 0),
	T("slack-app", 'H', "!xapp-%d-%U{1,32}-%d{1,32}-%l{1,}", 28, 0),
	T("slack-webhook", 'H', "hooks.slack.com/services/%B{40,56}", 35, 0),
	T("slack-webhook", 'H', "hooks.slack.com/workflows/%B{40,56}", 35, 0),
	T("slack-webhook", 'H', "hooks.slack.com/triggers/%B{40,56}", 35, 0),
	T("discord-bot", 'M', "!%0%1%3%4%0%1%3%4%0%1%3%4%0%1%3%4%0%1%3%4%W{3,6}.%W{6}.%W{27,38}!", 35, 0),
	V("discord-bot", 'M', "discord", discord_near, 35, FOLD | CASES | DIGIT),
	T("discord-webhook", 'H', "discord.com/api/webhooks/%d{17,20}/%W{60,}", 35, MIXED),
	T("discord-webhook", 'H', "discord.com/api/v%d{1,2}/webhooks/%d{17,20}/%W{60,}", 35, MIXED),
	T("discord-webhook", 'H', "discordapp.com/api/webhooks/%d{17,20}/%W{60,}", 35, MIXED),
	T("discord-webhook", 'H', "discordapp.com/api/v%d{1,2}/webhooks/%d{17,20}/%W{60,}", 35, MIXED),
	V("telegram-bot", 'H', ":AA%W", telegram, 35, MIXED),
	T("teams-webhook", 'H', "webhook.office.com/webhookb2/%x{36}@", 25, 0),

	/* payment */
	T("stripe-secret", 'H', "!sk_live_%A{10,99}!", 28, 0),
	T("stripe-secret", 'H', "!rk_live_%A{10,99}!", 28, 0),
	T("stripe-secret", 'M', "!sk_test_%A{20,99}!", 35, CASES),
	T("stripe-secret", 'M', "!rk_test_%A{20,99}!", 35, CASES),
	T("stripe-webhook", 'H', "!whsec_%B{32,}", 35, 0),
	T("square", 'H', "!sq0atp-%W{22,43}", 30, 0),
	T("square", 'H', "!sq0csp-%W{22,43}", 30, 0),
	T("square", 'M', "!EAAA%W{60}!", 40, CASES | DIGIT | LONELY),
	T("braintree", 'H', "access_token$production$%l{16}$%h{32}", 30, 0),
	T("shopify", 'H', "!shpat_%H{32}!", 28, 0),
	T("shopify", 'H', "!shpca_%H{32}!", 28, 0),
	T("shopify", 'H', "!shppa_%H{32}!", 28, 0),
	T("shopify", 'H', "!shpss_%H{32}!", 28, 0),
	T("plaid", 'H', "!access-production-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}", 25, 0),
	T("plaid", 'H', "!access-development-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}", 25, 0),
	T("flutterwave", 'H', "!FLWSECK-%h{32}-X!", 28, 0),
	T("duffel", 'H', "!duffel_live_%W{43}!", 30, MIXED),
	T("shippo", 'H', "!shippo_live_%h{40}!", 28, 0),

	/* mail */
	T("sendgrid", 'H', "!SG.%W{22}.%W{43}!", 35, MIXED),
	T("mailgun", 'M', "!key-%h{32}!", 28, NOT_LOCK | DIGIT | NEEDS(MAILGUN)),
	V("mailgun", 'M', "mailgun", word, 0, FOLD | LITERAL | WORD(MAILGUN)),
	V("mailchimp", 'M', "-us%d", mailchimp, 28, NOT_LOCK | DIGIT),
	T("sendinblue", 'H', "!xkeysib-%h{64}-%A{16}!", 30, 0),
	T("sendinblue", 'H', "!xsmtpsib-%h{64}-%A{16}!", 30, 0),
	T("mailersend", 'H', "!mlsn.%h{64}!", 30, 0),
	T("resend", 'M', "!re_%A{8}_%A{24}!", 35, CASES | DIGIT),
	T("twilio", 'M', "!SK%h{32}!", 28, NOT_LOCK | DIGIT | NEEDS(TWILIO)),
	T("twilio", 'M', "!AC%h{32}%q{1,4},%s{0,8}%q{1,4}%h{32}!", 28, NOT_LOCK | DIGIT | NEEDS(TWILIO)),
	T("twilio", 'M', "auth_token%q{0,2}%b{0,8}=%b{0,8}%q{0,2}%h{32}!", 28, FOLD | DIGIT | NEEDS(TWILIO)),
	T("twilio", 'M', "auth_token%q{0,2}%b{0,8}:%b{0,8}%q{0,2}%h{32}!", 28, FOLD | DIGIT | NEEDS(TWILIO)),
	T("twilio", 'M', "authtoken%q{0,2}%b{0,8}=%b{0,8}%q{0,2}%h{32}!", 28, FOLD | DIGIT | NEEDS(TWILIO)),
	T("twilio", 'M', "authtoken%q{0,2}%b{0,8}:%b{0,8}%q{0,2}%h{32}!", 28, FOLD | DIGIT | NEEDS(TWILIO)),
	V("twilio", 'M', "twilio", word, 0, FOLD | LITERAL | WORD(TWILIO)),

	/* package registries */
	T("npm-token", 'H', "!npm_%A{36}!", 35, CHECKSUM | MIXED),
	T("npm-legacy-authtoken", 'H', ":_authToken%b{0,32}=%b{0,32}%Q{0,1}%n{8,}", 25, CHOSEN),
	T("npm-legacy-authtoken", 'H', ":_authToken%Q%b{0,32}:%b{0,32}%Q%n{8,}", 25, CHOSEN),
	T("npm-legacy-authtoken", 'H', "!npmAuthToken%Q{0,1}%b{0,32}:%b{0,32}%Q{0,1}%n{8,}", 25, CHOSEN),
	T("npm-legacy-authtoken", 'H', "!npmAuthIdent%Q{0,1}%b{0,32}:%b{0,32}%Q{0,1}%n{8,}", 25, CHOSEN),
	V("npm-auth-b64", 'H', "_auth=", npm_auth, 0, 0),
	V("npm-auth-b64", 'H', "_auth%b", npm_auth, 0, 0),
	V("npm-auth-b64", 'H', "_password=", npm_auth, 0, 0),
	V("npm-auth-b64", 'H', "_password%b", npm_auth, 0, 0),
	T("pypi", 'H', "!pypi-AgEIcHlwaS5vcmc%W{50,}", 30, 0),
	T("pypi", 'H', "!pypi-AgENdGVzdC5weXBpLm9yZw%W{50,}", 30, 0),
	T("rubygems", 'H', "!rubygems_%h{48}!", 30, 0),
	T("nuget", 'H', "!oy2%l{43}!", 35, APART | DIGIT),
	T("crates-io", 'M', "!cio%A{32}!", 35, APART | CASES | DIGIT),
	T("clojars", 'H', "!CLOJARS_%h{60}!", 30, 0),
	T("docker-hub", 'H', "!dckr_pat_%W{27,32}!", 30, MIXED),
	T("docker-hub", 'H', "!dckr_oat_%W{27,32}!", 30, MIXED),
	T("artifactory", 'H', "!AKCp%A{69}!", 40, APART | CASES),
	T("artifactory", 'H', "!cmVmd%A{59}!", 45, APART | CASES),

	/* keys */
	V("pem-private", 'H', "PRIVATE KEY", pem, 0, LITERAL),
	V("pem-private", 'H', "PRIVATE%p{3}KEY", pem_url, 0, LITERAL),
	V("pem-private", 'H', "PRIVATE+KEY", pem_url, 0, LITERAL),
	/* the same without armour, as a file: PKCS #8, PKCS #1 and DSA's,
	   SEC 1, and what is encrypted */
	V("pem-private", 'H', "\2\1%o0", der, 0, LITERAL),
	V("pem-private", 'H', "\2\1%o\2", der, 0, LITERAL),
	V("pem-private", 'H', "\2\1\1\4", der, 0, LITERAL),
	V("pem-private", 'H', "\r\1\5\r", der, 0, LITERAL),
	V("pem-private", 'H', "\r\1\f\1", der, 0, LITERAL),
	V("putty-key", 'H', "PuTTY-User-Key-File-2:", putty, 0, LITERAL),
	V("putty-key", 'H', "PuTTY-User-Key-File-3:", putty, 0, LITERAL),
	T("openssh-b64", 'H', "b3BlbnNzaC1rZXktdjE%E{40,}", 0, LITERAL),
	V("pem-b64", 'M', "LS0tLS1CRUdJTi", pem_b64, 0, LITERAL),
	V("pem-b64", 'M', "0tLS0tQkVHSU4g", pem_b64, 0, LITERAL),
	V("pem-b64", 'M', "tLS0tLUJFR0lOI", pem_b64, 0, LITERAL),
	V("pem-b64", 'M', "UFJJVkFURSBLRV", pem_b64, 0, LITERAL),
	V("pem-b64", 'M', "BSSVZBVEUgS0VZ", pem_b64, 0, LITERAL),
	V("pem-b64", 'M', "QUklWQVRFIEtFW", pem_b64, 0, LITERAL),
	/* without header and end, as settings of programs have it: PKCS #8
	   (RFC 5958) of RSA and EC, PKCS #1, SEC 1, Ed25519 */
	V("pem-b64", 'M', "IBADANBgkqhkiG9w0BAQEFAAS", key_b64, 0, LITERAL),
	V("pem-b64", 'M', "AgEAMBMGByqGSM49AgEG", key_b64, 0, LITERAL),
	V("pem-b64", 'M', "AgEAMBAGByqGSM49AgEG", key_b64, 0, LITERAL),
	/* of EC without the public part, which nobody must give (RFC 5915) */
	V("pem-b64", 'M', "MEECAQAwEwYHKoZIzj0CAQYI", key_b64, 0, LITERAL),
	V("pem-b64", 'M', "ME4CAQAwEAYHKoZIzj0CAQYF", key_b64, 0, LITERAL),
	V("pem-b64", 'M', "MGACAQAwEAYHKoZIzj0CAQYF", key_b64, 0, LITERAL),
	V("pem-b64", 'M', "IBAAK", key_b64, 0, LITERAL),
	V("pem-b64", 'M', "MHcCAQEEI", key_b64, 0, LITERAL),
	V("pem-b64", 'M', "MIGkAgEBBD", key_b64, 0, LITERAL),
	V("pem-b64", 'M', "MIHcAgEBBE", key_b64, 0, LITERAL),
	V("pem-b64", 'M', "MC4CAQAwBQYDK2VwBCIEI", key_b64, 0, LITERAL),
	V("jwk-private", 'M', "kty%q{1,4}%s{0,20}:%s{0,20}%q{1,4}%L{2,3}%q", jwk, 30, 0),
	T("age-key", 'H', "AGE-SECRET-KEY-1%k{58}", 30, 0),
	V("wireguard", 'H', "PrivateKey", wireguard, 40, CASES),
	V("wireguard", 'H', "PresharedKey", wireguard, 40, CASES),

	T("minisign-key", 'H', "RWRTY0Iy%B{200,}", 40, CASES),
	T("minisign-key", 'H', "!RWRCSw%B{130,}", 40, CASES), /* signify(1) */
	T("rsa-xml", 'H', "</Q>%s{0,40}<DP>%E{40,}", 40, CASES),
	T("rsa-xml", 'H', "<D>%B{80,}", 40, CASES),
	T("openvpn-static-key", 'H', "BEGIN OpenVPN Static key V1-----%s{1,4}%h{32}", 28, 0),
	T("dnssec-key", 'H', "\nPrivateKey:%b{1,4}%B{42,}", 40, CASES),
	T("dnssec-key", 'H', "\nPrivateExponent:%b{1,4}%B{80,}", 40, CASES),
	V("seed-phrase", 'M', "mnemonic", seed_phrase, 0, FOLD),
	V("seed-phrase", 'M', "seed%bphrase", seed_phrase, 0, FOLD),
	V("seed-phrase", 'M', "seed_phrase", seed_phrase, 0, FOLD),
	V("seed-phrase", 'M', "seedphrase", seed_phrase, 0, FOLD),
	T("wallet-key", 'M', "!accounts%Q{0,1}%b{0,8}:%b{0,8}[%s{0,40}%Q%h{64}!", 30, DIGIT),
	T("wallet-key", 'M', "!accounts%Q{0,1}%b{0,8}:%b{0,8}[%s{0,40}%Q0x%h{64}!", 30, DIGIT),
	T("wallet-key", 'M', "Wallet(%Q0x%h{64}!", 30, DIGIT),
	T("wallet-key", 'M', "Wallet(%Q%h{64}!", 30, DIGIT),

	/* sessions */
	V("jwt", 'M', "!eyJ%A", jwt, 35, 0),
	V("jwt", 'M', "ZXlK", jwt_b64, 0, LITERAL),
	T("vault", 'H', "!hvs.%W{24,300}", 35, MIXED),
	T("vault", 'H', "!hvb.%W{24,300}", 35, MIXED),
	T("vault", 'H', "!hvr.%W{24,300}", 35, MIXED),
	/* what its data is opened with, as it is printed once */
	T("vault", 'H', "nseal Key %d{1,2}:%b{1,4}%B{43}%E", 40, CASES),
	T("vault", 'H', "unseal_keys%W{0,8}%q{0,1}%b{0,2}:%s{1,24}-%b{1,4}%q{0,1}%B{43}%E", 40, CASES),
	T("vault", 'H', "unseal_keys%W{0,8}%q%b{0,2}:%s{0,24}[%s{0,24}%q%B{43}%E", 40, CASES),
	T("totp-secret", 'M', "?secret=%2{16,64}", 30, DIGIT),
	T("totp-secret", 'M', "&secret=%2{16,64}", 30, DIGIT),
	T("totp-secret", 'M', "otp_secret%q{0,2}%b{0,4}=%b{0,4}%q{0,1}%2{16,64}!", 30, FOLD | DIGIT),
	T("totp-secret", 'M', "otp_secret%q{0,2}%b{0,4}:%b{0,4}%q{0,1}%2{16,64}!", 30, FOLD | DIGIT),
	T("totp-secret", 'M', "otpsecret%q{0,2}%b{0,4}=%b{0,4}%q{0,1}%2{16,64}!", 30, FOLD | DIGIT),
	T("totp-secret", 'M', "otpsecret%q{0,2}%b{0,4}:%b{0,4}%q{0,1}%2{16,64}!", 30, FOLD | DIGIT),
	T("totp-secret", 'M', "TOTP(%Q%2{16,64}!", 30, DIGIT),
	T("onepassword-sa", 'H', "!ops_eyJ%B{250,}", 30, MIXED),
	T("onepassword-key", 'H', "!A3-%U{6}-%U{11}-%U{5}-%U{5}-%U{5}!", 30, 0),
	T("onepassword-key", 'H', "!A3-%U{6}-%U{6}-%U{5}-%U{5}-%U{5}-%U{5}!", 30, 0),
	T("doppler", 'H', "!dp.pt.%g{40,}", 30, MIXED),
	T("doppler", 'H', "!dp.st.%g{40,}", 30, MIXED),
	T("doppler", 'H', "!dp.ct.%g{40,}", 30, MIXED),
	T("doppler", 'H', "!dp.sa.%g{40,}", 30, MIXED),
	T("doppler", 'H', "!dp.scim.%g{40,}", 30, MIXED),
	T("doppler", 'H', "!dp.audit.%g{40,}", 30, MIXED),
	T("openshift", 'H', "!sha256~%W{43}!", 30, MIXED),
	V("k8s-secret-yaml", 'M', "kind:%s{1,32}%q{0,1}Secret%q{0,1}", k8s_kind, 0, LITERAL | NEEDS(K8S)),
	V("k8s-secret-yaml", 'M', "data:", k8s_data, 0, LITERAL | WORD(K8S)),
	V("k8s-secret-yaml", 'M', "stringData:", k8s_data, 0, LITERAL | WORD(K8S)),
	V("k8s-secret-yaml", 'M', "kind%q{1,2}%s{0,32}:%s{0,32}%q{0,2}Secret%q", k8s_kind, 0, LITERAL | NEEDS(K8S)),
	V("k8s-secret-yaml", 'M', "data%q", k8s_data, 0, LITERAL | WORD(K8S)),
	V("k8s-secret-yaml", 'M', "stringData%q", k8s_data, 0, LITERAL | WORD(K8S)),
	V("k8s-secret-yaml", 'M', "\n---", document, 0, LITERAL | CLEARS(K8S)),
	T("api-key-header", 'M', "x-api-key%q{0,2}%b{0,4}:%b{0,4}%q{0,1}%W{32,}", 35, FOLD | CASES | DIGIT),
	T("api-key-header", 'M', "x-api-key%q{0,2}%b{0,4}:%b{0,4}%q{0,1}%h{32,64}!", 30, FOLD | DIGIT),
	T("api-key-header", 'M', "x-auth-token%q{0,2}%b{0,4}:%b{0,4}%q{0,1}%W{32,}", 35, FOLD | CASES | DIGIT),
	T("api-key-header", 'M', "x-auth-token%q{0,2}%b{0,4}:%b{0,4}%q{0,1}%h{32,64}!", 30, FOLD | DIGIT),
	V("http-basic-header", 'M', "authorization", http_auth, 30, FOLD | DIGIT),

	V("session-cookie", 'M', "cookie:", cookie, 30, FOLD),
	V("session-cookie", 'M', "cookie=", cookie, 30, FOLD),
	V("session-cookie", 'M', "cookie%q", cookie, 30, FOLD),
	V("session-cookie", 'M', "cookie%b", cookie, 30, FOLD),
	V("session-cookie", 'M', "cookies=", cookie, 30, FOLD),
	V("session-cookie", 'M', "cookies:", cookie, 30, FOLD),
	V("session-cookie", 'M', "curl%b", curl_cookie, 30, 0),
	V("session-cookie", 'M', "\tTRUE\t/", cookie_line, 30, 0),
	V("session-cookie", 'M', "\tFALSE\t/", cookie_line, 30, 0),

	/* databases */
	V("db-url", 'M', "://%p", url_db, 0, 0),
	V("db-url", 'M', ":\\/\\/%p", url_db, 0, 0),
	V("db-url", 'M', "@tcp(", go_dsn, 0, 0),
	V("db-url", 'M', "password=", url_param, 0, FOLD),
	V("db-url", 'M', "jdbc:oracle:thin:", oracle, 0, FOLD),
	V("ado-connstr", 'M', "password=", ado, 0, FOLD),
	V("ado-connstr", 'M', "pwd=", ado, 0, FOLD),
	V("pgpass-line", 'M', ":5432:", pgpass, 0, 0),

	/* settings of programs */
	V("password-assign", 'M', "password", assign, 29, FOLD | DIGIT),
	V("password-assign", 'M', "passphrase", assign, 29, FOLD | DIGIT),
	V("password-assign", 'M', "passwd", assign, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pass=", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pass:", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pass\"", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pass'", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pass%s", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pass\\", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pass[", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pwd[", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pass<", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pass>", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pwd=", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pwd:", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pwd\"", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pwd'", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pwd%s", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pwd\\", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pwd<", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "pwd>", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "storepass", assign, 29, FOLD | DIGIT),
	V("password-assign", 'M', "_PW=", assign_short, 29, DIGIT),
	V("password-assign", 'M', "psk=", assign_short, 29, FOLD | DIGIT),
	V("password-assign", 'M', "PSK%b%Q", made_word, 29, DIGIT),
	V("password-assign", 'M', "identified%bby%b%Q", made_word, 29, FOLD | DIGIT),
	V("password-assign", 'M', "password%bby%b%Q", made_word, 29, FOLD | DIGIT),
	V("password-assign", 'M', "convertto-securestring%b%Q", made_word, 29, FOLD | CASES | DIGIT),
	V("password-assign", 'M', "securestring%b-string%b%Q", made_word, 29, FOLD | CASES | DIGIT),
	V("password-assign", 'M', "insecure-password%b", made_word, 29, CASES | DIGIT),
	V("password-assign", 'M', "_PASSWORD", environment, 25, DIGIT),
	V("password-assign", 'M', "_PASSPHRASE", environment, 25, DIGIT),
	T("password-assign", 'M', "<Pass encoding=\"base64\">%E{8,}", 25, CHOSEN),
	V("secret-assign", 'M', "secret", secret, 29, FOLD | DIGIT),
	V("secret-assign", 'M', "secret_key", signing_key, 42, FOLD | DIGIT),
	V("secret-assign", 'M', "_SECRET", environment, 25, DIGIT),
	V("secret-assign", 'M', "CREDENTIALS", token_word, 29, DIGIT),
	V("secret-assign", 'M', "credentials%q", token_short, 29, DIGIT),
	/* others are no secrets, and in the standards of protocols */
	V("secret-assign", 'M', "password_salt", token, 29, FOLD | DIGIT),
	V("secret-assign", 'M', "passwordsalt", token, 29, FOLD | DIGIT),
	V("secret-assign", 'M', "secret_salt", token, 29, FOLD | DIGIT),
	V("secret-assign", 'M', "secretsalt", token, 29, FOLD | DIGIT),
	V("secret-assign", 'M', "hash_salt", token, 29, FOLD | DIGIT),
	V("secret-assign", 'M', "hashsalt", token, 29, FOLD | DIGIT),
	V("password-argument", 'M', "connect(", argument, 29, 0),
	V("password-argument", 'M', "mysqli(", argument, 29, 0),
	V("password-argument", 'M', "iFi.begin(", argument, 29, 0),
	V("password-argument", 'M', "PDO(", argument, 29, 0),
	V("password-argument", 'M', "getConnection(", argument, 29, 0),
	V("password-argument", 'M', "ogin(", argument, 29, 0),
	V("password-argument", 'M', "asic_auth(", argument, 29, 0),
	V("password-argument", 'M', "asicAuth(", argument, 29, 0),
	V("password-argument", 'M', "auth=(", argument, 29, 0),
	V("password-argument", 'M', "auth%b=%b(", argument, 29, 0),
	V("password-argument", 'M', "Credential(", argument, 29, 0),
	V("password-argument", 'M', "Credentials(", argument, 29, 0),
	V("password-argument", 'M', "redentials.basic(", argument, 29, 0),
	V("password-argument", 'M', "Authentication(", argument, 29, 0),
	V("password-argument", 'M', "PlainAuth(", argument, 29, 0),
	V("password-argument", 'M', "ipheriv(", argument, 29, 0),
	V("password-argument", 'M', "createHmac(", argument, 29, 0),
	V("password-argument", 'M', "jwt.sign(", argument, 29, 0),
	V("password-argument", 'M', "jwt.verify(", argument, 29, 0),
	V("password-argument", 'M', "jwt.encode(", argument, 29, 0),
	V("password-argument", 'M', "jwt.decode(", argument, 29, 0),
	V("wordpress-salt", 'M', "AUTH_KEY%Q", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "AUTH_KEY=", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "AUTH_SALT%Q", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "AUTH_SALT=", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "LOGGED_IN_KEY%Q", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "LOGGED_IN_KEY=", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "LOGGED_IN_SALT%Q", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "LOGGED_IN_SALT=", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "NONCE_KEY%Q", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "NONCE_KEY=", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "NONCE_SALT%Q", salt, 0, LITERAL),
	V("wordpress-salt", 'M', "NONCE_SALT=", salt, 0, LITERAL),
	V("ldap-bindpw", 'M', "bindpw%b", bindpw, 0, FOLD),
	V("docker-auth", 'M', "\"auth\"", docker_auth, 0, 0),
	T("rails-secret", 'M', "secret_key_base:%b{1,8}%q{0,1}%h{128}!", 30, FOLD),
	T("rails-secret", 'M', "secret_key_base:%b{1,8}%q{0,1}%B{64}!", 45, FOLD | CASES | DIGIT),
	T("rails-secret", 'M', "secret_key_base=%q{0,1}%h{128}!", 30, FOLD),
	T("rails-secret", 'M', "secret_key_base=%q{0,1}%B{64}!", 45, FOLD | CASES | DIGIT),
	T("rails-secret", 'M', "secret_key_base%q{0,1}%b{0,8}=%b{0,8}%q%h{128}!", 30, 0),
	T("laravel-key", 'M', "app_key=%q{0,1}base64:%B{43}=", 40, FOLD | CASES),
	T("laravel-key", 'M', "app_key%q,%b{0,4}%qbase64:%B{43}=", 40, FOLD | CASES),
	T("laravel-key", 'M', "'key'%b{0,16}=>%b{0,8}'base64:%B{43}=", 40, CASES),
	T("terraform-state", 'M', "\"terraform_version\":", 0, LITERAL | NEEDS(TERRAFORM)),
	T("terraform-state", 'M', "\"lineage\":", 0, LITERAL | WORD(TERRAFORM)),
	T("machine-key", 'M', "validationkey=%q%H{64,128}%q", 30, FOLD | DIGIT),
	T("machine-key", 'M', "decryptionkey=%q%H{48,64}%q", 30, FOLD | DIGIT),

	/* services */
	T("grafana", 'H', "!glsa_%A{32}_%H{8}!", 30, MIXED),
	T("grafana", 'H', "!glc_%B{32,}", 35, MIXED),
	T("grafana", 'H', "!eyJrIjoi%A{70,}", 35, MIXED),
	/* of a DSN the second one is secret */
	T("sentry", 'M', "://%h{32}:%h{32}@", 28, DIGIT),
	T("sentry", 'H', "!sntrys_eyJ%+{40,}", 30, MIXED),
	T("sentry", 'H', "!sntryu_%h{64}", 30, 0),
	T("sentry", 'M', "auth.token=%h{64}!", 30, 0),
	T("newrelic", 'H', "!NRAK-%U{27}!", 30, 0),
	T("newrelic", 'M', "license_key%q{0,1}%b{0,4}:%b{0,8}%q{0,1}%l{36}nral", 30, FOLD),
	V("datadog", 'M', "dd_api", datadog, 28, FOLD | DIGIT),
	V("datadog", 'M', "dd-api", datadog, 28, FOLD | DIGIT),
	V("datadog", 'M', "ddapi", datadog, 28, FOLD | DIGIT),
	T("datadog", 'M', "!api_key:%b{1,8}%q{0,1}%h{32}!", 28, NOT_LOCK | DIGIT | NEEDS(DATADOG)),
	V("datadog", 'M', "datadoghq", word, 0, FOLD | LITERAL | WORD(DATADOG)),
	T("dynatrace", 'H', "!dt0%z%d%d.%U{24}.%U{64}!", 35, 0),
	T("linear", 'H', "!lin_api_%A{40,64}!", 30, MIXED),
	T("linear", 'H', "!lin_oauth_%A{40,64}!", 30, MIXED),
	T("notion", 'H', "!ntn_%d{11}%A{35}!", 30, MIXED),
	T("notion", 'H', "!secret_%A{43}!", 35, MIXED | DIGIT),
	T("postman", 'H', "!PMAK-%h{24}-%h{34}!", 30, 0),
	T("airtable", 'H', "!pat%A{14}.%h{64}!", 30, 0),
	T("figma", 'H', "!figd_%W{40,}", 35, MIXED),
	T("figma", 'H', "!figo_%W{40,}", 35, MIXED),
	T("figma", 'H', "!figu_%W{40,}", 35, MIXED),
	T("figma", 'H', "!figr_%W{40,}", 35, MIXED),
	T("okta-ssws", 'H', "SSWS%s{1,32}00%W{40}!", 30, MIXED),
	T("sourcegraph", 'H', "!sgp_%H{16}_%H{40}!", 30, 0),
	T("sourcegraph", 'H', "!sgp_local_%H{40}!", 30, 0),
	T("sourcegraph", 'H', "!sgp_%H{40}!", 30, 0),
	T("planetscale", 'H', "!pscale_tkn_%.{32,64}", 30, MIXED),
	T("planetscale", 'H', "!pscale_oauth_%.{32,64}", 30, MIXED),
	T("planetscale", 'H', "!pscale_pw_%.{32,64}", 30, MIXED),
	T("supabase", 'H', "!sbp_%h{40}!", 28, 0),
	T("supabase", 'H', "!sb_secret_%W{30,}", 30, MIXED),
	T("vercel", 'M', "!vcp_%A{50,60}!", 35, CASES),
	T("vercel", 'M', "!vci_%A{50,60}!", 35, CASES),
	T("vercel", 'M', "!vck_%A{50,60}!", 35, CASES),
	T("vercel", 'M', "!vcr_%A{50,60}!", 35, CASES),
	T("vercel", 'M', "!vcs_%A{50,60}!", 35, CASES),
	T("vercel", 'M', "!vca_%A{50,60}!", 35, CASES),
	T("vercel", 'M', "vercel_token%q{0,1}%b{0,8}=%b{0,8}%q{0,1}%A{24}!", 30, FOLD | CASES | DIGIT),
	T("vercel", 'M', "vercel_token%q{0,1}%b{0,8}:%b{0,8}%q{0,1}%A{24}!", 30, FOLD | CASES | DIGIT),
	T("vercel", 'M', "!vercel_blob_rw_%A{16}_%A{30}!", 35, CASES | DIGIT),
	T("tailscale", 'H', "!tskey-auth-%A{1,64}-%A{20,}", 30, 0),
	T("tailscale", 'H', "!tskey-api-%A{1,64}-%A{20,}", 30, 0),
	T("tailscale", 'H', "!tskey-client-%A{1,64}-%A{20,}", 30, 0),
	T("tailscale", 'H', "!tskey-scim-%A{1,64}-%A{20,}", 30, 0),
	T("tailscale", 'H', "!tskey-webhook-%A{1,64}-%A{20,}", 30, 0),
	T("easypost", 'H', "!EZAK%A{54}!", 30, MIXED | SHORT),
	T("easypost", 'H', "!EZTK%A{54}!", 30, MIXED | SHORT),
	T("octopus", 'M', "!API-%U{26}!", 35, DIGIT),
	T("adafruit", 'H', "!aio_%L{4}%d{2}%A{22}!", 30, MIXED),
	T("adobe", 'H', "!p8e-%l{32}!", 30, DIGIT),
	T("apify", 'H', "!apify_api_%A{36}!", 30, MIXED),
	T("hubspot", 'H', "!pat-na1-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}!", 25, 0),
	T("hubspot", 'H', "!pat-na2-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}!", 25, 0),
	T("hubspot", 'H', "!pat-eu1-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}!", 25, 0),
	T("intra42", 'H', "!s-s4t2ud-%h{64}!", 28, 0),
	T("intra42", 'H', "!s-s4t2af-%h{64}!", 28, 0),
	T("defined-networking", 'H', "!dnkey-%={26}-%={52}", 30, MIXED),
	T("scalingo", 'H', "!tk-us-%W{48}!", 30, MIXED),
	T("yandex", 'M', "!AQVN%W{35,38}!", 35, CASES | DIGIT | LONELY),
	T("aiven", 'H', "!AVNS_%W{19}!", 30, MIXED),
	T("asana", 'M', "!2/%d{14,18}/%d{14,18}:%h{32}!", 28, 0),
	T("asana", 'M', "!1/%d{14,18}:%h{32}!", 28, 0),
	T("buildkite", 'H', "!bkua_%h{40}!", 28, 0),
	T("circleci", 'H', "!CCIPAT_%A{22}_%h{40}!", 30, MIXED),
	T("circleci", 'H', "!CCIPRJ_%A{22}_%h{40}!", 30, MIXED),
	T("clickup", 'H', "!pk_%d{6,10}_%U{32}!", 30, MIXED),
	T("contentful", 'H', "!CFPAT-%W{43}!", 30, MIXED),
	T("docker-swarm", 'H', "!SWMTKN-1-%l{50}-%l{25}!", 30, 0),
	T("dropbox", 'H', "!sl.u.%W{100,}", 35, MIXED),
	T("facebook", 'M', "!EAAC%A{100,}", 40, CASES | DIGIT | LONELY),
	T("facebook", 'M', "!EAAM%A{100,}", 40, CASES | DIGIT | LONELY),
	T("facebook", 'M', "!IGQV%W{100,}", 40, CASES | DIGIT | LONELY),
	T("frameio", 'H', "!fio-u-%={60,}", 30, MIXED),
	T("harness", 'H', "!pat.%W{22}.%h{24}.%A{20}!", 30, MIXED),
	T("honeycomb", 'H', "!hcaik_%l{58}!", 30, DIGIT),
	T("honeycomb", 'H', "!hcaic_%l{58}!", 30, DIGIT),
	T("infracost", 'M', "!ico-%A{32}!", 35, CASES | DIGIT),
	T("k3s", 'H', "!K10%h{64}::%a{2,16}:%h{32}!", 28, 0),
	T("kubeadm", 'M', "!token%b{1,4}%l{6}.%l{16}!", 30, DIGIT),
	T("launchdarkly", 'M', "!sdk-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}!", 25, DIGIT),
	T("launchdarkly", 'M', "!api-%h{8}-%h{4}-%h{4}-%h{4}-%h{12}!", 25, DIGIT),
	T("linkedin", 'H', "!WPL_AP1.%A{16}.%E{6,}", 25, MIXED),
	T("mapbox", 'H', "!sk.eyJ1Ijoi%A{20,}.%W{20,}", 30, MIXED),
	T("neon", 'H', "!napi_%l{64}!", 30, DIGIT),
	T("netlify", 'H', "!nfp_%A{36}!", 30, MIXED),
	T("posthog", 'H', "!phx_%A{40,}", 30, MIXED),
	T("prefect", 'H', "!pnu_%A{36}!", 30, MIXED),
	T("prefect", 'H', "!pnb_%A{36}!", 30, MIXED),
	T("readme", 'H', "!rdme_%l{70}!", 30, DIGIT),
	T("render", 'M', "!rnd_%A{32}!", 35, CASES | DIGIT),
	T("sonar", 'H', "!squ_%h{40}!", 28, 0),
	T("sonar", 'H', "!sqp_%h{40}!", 28, 0),
	T("sonar", 'H', "!sqa_%h{40}!", 28, 0),
	T("sonar", 'M', "sonar.login=%h{40}!", 28, 0),
	T("typeform", 'H', "!tfp_%.{40,}", 30, MIXED),

	/* a token that is alone in base64, as lists of secrets have it */
	T("token-b64", 'M', "!Z2hwX%A{48,60}", 40, CASES | DIGIT), /* ghp_ */
	T("token-b64", 'M', "!Z2hvX%A{48,60}", 40, CASES | DIGIT), /* gho_ */
	T("token-b64", 'M', "!Z2hzX%A{48,}", 40, CASES | DIGIT), /* ghs_ */
	T("token-b64", 'M', "!Z2l0aHViX3BhdF%A{90,}", 40, CASES | DIGIT),
	T("token-b64", 'M', "!Z2xwYXQt%A{26,}", 35, CASES | DIGIT), /* glpat- */
	T("token-b64", 'M', "!c2stYW50L%A{100,}", 40, CASES | DIGIT), /* sk-ant- */
	T("token-b64", 'M', "!c2stcHJvai%A{100,}", 40, CASES | DIGIT), /* sk-proj- */
	T("token-b64", 'M', "!eG94Yi%A{50,}", 40, CASES | DIGIT), /* xoxb- */
	T("token-b64", 'M', "!eG94cC%A{60,}", 40, CASES | DIGIT), /* xoxp- */
	T("token-b64", 'M', "!QUtJQ%A{22,23}%E{0,1}!", 35, CASES | LONELY), /* AKIA */
	T("token-b64", 'M', "!bnBtX%A{48,60}", 40, CASES | DIGIT), /* npm_ */
	T("token-b64", 'M', "!ZGNrcl9wYXRf%A{32,}", 35, CASES | DIGIT), /* dckr_pat_ */
	T("token-b64", 'M', "!c2tfbGl2ZV%A{20,}", 35, CASES | DIGIT), /* sk_live_ */
	T("token-b64", 'M', "!cHlwaS1BZ0%A{80,}", 40, CASES | DIGIT), /* pypi-Ag */

	/* words of settings in base64, at each of the three places that they
	   can have in it: what is around them is looked at as a text */
	T("base64-text", 'M', "YXNzd29yZ", 0, TEXT | LITERAL), /* assword */
	T("base64-text", 'M', "Fzc3dvcm", 0, TEXT | LITERAL),
	T("base64-text", 'M', "hc3N3b3Jk", 0, TEXT | LITERAL),
	T("base64-text", 'M', "QVNTV09SR", 0, TEXT | LITERAL), /* ASSWORD */
	T("base64-text", 'M', "FTU1dPUk", 0, TEXT | LITERAL),
	T("base64-text", 'M', "BU1NXT1JE", 0, TEXT | LITERAL),
	T("base64-text", 'M', "X1BBU1M9", 0, TEXT | LITERAL), /* _PASS= */
	T("base64-text", 'M', "9QQVNTP", 0, TEXT | LITERAL),
	T("base64-text", 'M', "fUEFTUz", 0, TEXT | LITERAL),
	T("base64-text", 'M', "U0VDUkVU", 0, TEXT | LITERAL), /* SECRET */
	T("base64-text", 'M', "NFQ1JFV", 0, TEXT | LITERAL),
	T("base64-text", 'M', "TRUNSRV", 0, TEXT | LITERAL),
	T("base64-text", 'M', "ZWNyZX", 0, TEXT | LITERAL), /* ecret */
	T("base64-text", 'M', "VjcmV0", 0, TEXT | LITERAL),
	T("base64-text", 'M', "lY3Jld", 0, TEXT | LITERAL),
	T("base64-text", 'M', "VE9LRU", 0, TEXT | LITERAL), /* TOKEN */
	T("base64-text", 'M', "RPS0VO", 0, TEXT | LITERAL),
	T("base64-text", 'M', "UT0tFT", 0, TEXT | LITERAL),
	T("base64-text", 'M', "b2tlb", 0, TEXT | LITERAL), /* oken */
	T("base64-text", 'M', "9rZW", 0, TEXT | LITERAL),
	T("base64-text", 'M', "va2Vu", 0, TEXT | LITERAL),
	T("base64-text", 'M', "UElfS0VZ", 0, TEXT | LITERAL), /* PI_KEY */
	T("base64-text", 'M', "BJX0tFW", 0, TEXT | LITERAL),
	T("base64-text", 'M', "QSV9LRV", 0, TEXT | LITERAL),
	T("base64-text", 'M', "cGlfa2V5", 0, TEXT | LITERAL), /* pi_key */
	T("base64-text", 'M', "BpX2tle", 0, TEXT | LITERAL),
	T("base64-text", 'M', "waV9rZX", 0, TEXT | LITERAL),
	T("base64-text", 'M', "cGlLZX", 0, TEXT | LITERAL), /* piKey */
	T("base64-text", 'M', "BpS2V5", 0, TEXT | LITERAL),
	T("base64-text", 'M', "waUtle", 0, TEXT | LITERAL),
	T("base64-text", 'M', "X0tFWT", 0, TEXT | LITERAL), /* _KEY= */
	T("base64-text", 'M', "9LRVk9", 0, TEXT | LITERAL),
	T("base64-text", 'M', "fS0VZP", 0, TEXT | LITERAL),
	T("base64-text", 'M', "dHRwczov", 0, TEXT | LITERAL), /* ttps:/ */
	T("base64-text", 'M', "R0cHM6L", 0, TEXT | LITERAL),
	T("base64-text", 'M', "0dHBzOi", 0, TEXT | LITERAL),
	T("base64-text", 'M', "cG9zdGdyZX", 0, TEXT | LITERAL), /* postgres */
	T("base64-text", 'M', "Bvc3RncmVz", 0, TEXT | LITERAL),
	T("base64-text", 'M', "wb3N0Z3Jlc", 0, TEXT | LITERAL),
	T("base64-text", 'M', "bXlzcWw6L", 0, TEXT | LITERAL), /* mysql:/ */
	T("base64-text", 'M', "15c3FsOi", 0, TEXT | LITERAL),
	T("base64-text", 'M', "teXNxbDov", 0, TEXT | LITERAL),
	T("base64-text", 'M', "bW9uZ29kY", 0, TEXT | LITERAL), /* mongodb */
	T("base64-text", 'M', "1vbmdvZG", 0, TEXT | LITERAL),
	T("base64-text", 'M', "tb25nb2Ri", 0, TEXT | LITERAL),
	T("base64-text", 'M', "cmVkaXM6L", 0, TEXT | LITERAL), /* redis:/ */
	T("base64-text", 'M', "JlZGlzOi", 0, TEXT | LITERAL),
	T("base64-text", 'M', "yZWRpczov", 0, TEXT | LITERAL),
	T("base64-text", 'M', "ImF1dG", 0, TEXT | LITERAL), /* "auth */
	T("base64-text", 'M', "JhdXRo", 0, TEXT | LITERAL),
	T("base64-text", 'M', "iYXV0a", 0, TEXT | LITERAL),

	/* a history in a file, under whatever name */
	T("git-bundle", 'H', "# v2 git bundle\n%h{40}%b", 0, LITERAL),
	T("git-bundle", 'H', "# v2 git bundle\n-%h{40}%b", 0, LITERAL),
	T("git-bundle", 'H', "# v3 git bundle\n@%z{4,}", 0, LITERAL),
	V("git-fast-export", 'M', "committer%b", git_export, 0, LITERAL),

	/* command lines */
	V("curl-user", 'M', "curl", curl, 0, 0),
	V("cli-password", 'M', "-password=", command, 0, 0),
	V("cli-password", 'M', "-password%b", command, 0, 0),
	V("cli-password", 'M', "-password%b", option, 29, DIGIT),
	V("cli-password", 'M', "-password=", option, 29, DIGIT),
	V("cli-password", 'M', "-token%b", option, 29, DIGIT),
	V("cli-password", 'M', "-token=", option, 29, DIGIT),
	V("cli-password", 'M', "-api-key%b", option, 29, DIGIT),
	V("cli-password", 'M', "-api-key=", option, 29, DIGIT),
	V("cli-password", 'M', "-secret%b", option, 29, DIGIT),
	V("cli-password", 'M', "-secret=", option, 29, DIGIT),
	V("cli-password", 'M', "-key%b", option, 29, DIGIT),
	V("cli-password", 'M', "-key=", option, 29, DIGIT),
	V("cli-password", 'M', "-pass%b", option, 29, DIGIT),
	V("cli-password", 'M', "-pass=", option, 29, DIGIT),
	V("cli-password", 'M', "-passwd%b", option, 29, DIGIT),
	V("cli-password", 'M', "-passwd=", option, 29, DIGIT),
	V("cli-password", 'M', "-passphrase%b", option, 29, DIGIT),
	V("cli-password", 'M', "-passphrase=", option, 29, DIGIT),
	V("cli-password", 'M', "mysql%b", short_option, 0, 0),
	V("cli-password", 'M', "mysqldump%b", short_option, 0, 0),
	V("cli-password", 'M', "login%b", login_option, 0, 0),
	V("cli-password", 'M', "vault%blogin%b", made_word, 29, DIGIT),
	V("cli-password", 'M', "redis-cli%b", tool_option, 0, 0),
	V("cli-password", 'M', "valkey-cli%b", tool_option, 0, 0),
	V("cli-password", 'M', "mongo", tool_option, 0, 0),
	V("cli-password", 'M', "ldap%z{3}", tool_option, 0, 0),
	V("cli-password", 'M', "sqlcmd%b", tool_option, 0, 0),
	V("cli-password", 'M', "cqlsh%b", tool_option, 0, 0),
	V("cli-password", 'M', "bcp%b", tool_option, 0, DIGIT),
	V("cli-password", 'M', "osql%b", tool_option, 0, DIGIT),
	V("cli-password", 'M', "psexec", tool_option, 0, FOLD | DIGIT),
	V("cli-password", 'M', "zip%b", tool_option, 0, DIGIT),
	V("cli-password", 'M', "unzip%b", tool_option, 0, DIGIT),
	V("cli-password", 'M', "-pw%b", made_word, 29, DIGIT),
	V("cli-password", 'M', "-passwd%b", made_word, 29, DIGIT),
	V("cli-password", 'M', "-storepass%b", made_word, 29, DIGIT),
	V("cli-password", 'M', "-keypass%b", made_word, 29, DIGIT),
	V("cli-password", 'M', "authtoken%b", made_word, 29, DIGIT),
	V("cli-password", 'M', "-authkey%b", option, 29, DIGIT),
	V("cli-password", 'M', "-authkey=", option, 29, DIGIT),
	V("cli-password", 'M', "smbclient%b", user_option, 0, 0),
	V("cli-password", 'M', "lftp%b", user_option, 0, 0),
	V("cli-password", 'M', "%bpass:", openssl_pass, 0, 0),
	V("cli-password", 'M', "from-literal=", from_literal, 0, 0),
	V("cli-password", 'M', "/user:", net_user, 0, FOLD),
	V("cli-password", 'M', "htpasswd%b", htpasswd, 0, 0),
	V("cli-password", 'M', "password-stdin", piped, 0, 0),
	V("cli-password", 'M', "sudo%b-S", piped, 0, 0),
	V("cli-password", 'M', "chpasswd", piped, 0, 0),
	V("cli-password", 'M', "root:%A", root_line, 0, 0),
	V("cli-password", 'M', "requirepass%b", made_word, 0, 0),
	V("cli-password", 'M', "masterauth%b", made_word, 0, 0),
	V("sshpass", 'H', "sshpass", sshpass, 0, 0),
	V("netrc-line", 'H', "machine%s", netrc, 0, 0),
	V("netrc-line", 'M', "default%slogin", netrc, 0, 0),

	/* password hashes */
	V("shadow-hash", 'H', "$6$%S", shadow_line, 30, 0),
	V("shadow-hash", 'H', "$5$%S", shadow_line, 30, 0),
	V("shadow-hash", 'H', "$y$%S", shadow_line, 30, 0),
	V("shadow-hash", 'H', "$2b$", shadow_line, 30, 0),
	V("shadow-hash", 'H', "$6$%S", crypt, 30, 0),
	V("shadow-hash", 'H', "$5$%S", crypt, 30, 0),
	V("shadow-hash", 'H', "$y$%S", crypt, 30, 0),
	V("shadow-hash", 'M', "$2a$", crypt, 30, 0),
	V("shadow-hash", 'M', "$2b$", crypt, 30, 0),
	V("shadow-hash", 'M', "$2y$", crypt, 30, 0),
	V("shadow-hash", 'M', "$argon2", crypt, 30, 0),
	V("shadow-hash", 'M', "pbkdf2_sha256$", crypt, 30, 0),
	V("htpasswd-hash", 'H', "$apr1$", hash_line, 30, 0),
	V("htpasswd-hash", 'H', "$2a$", hash_line, 30, 0),
	V("htpasswd-hash", 'H', "$2b$", hash_line, 30, 0),
	V("htpasswd-hash", 'H', "$2y$", hash_line, 30, 0),
	V("htpasswd-hash", 'H', "$6$%S", hash_line, 30, 0),
	V("htpasswd-hash", 'H', "{SHA}", hash_line, 30, 0),
	/* whatever key or token has no rule of its own */
	V("api-key-assign", 'M', "api_key", api_key, 30, FOLD | DIGIT),
	V("api-key-assign", 'M', "api-key", api_key, 30, FOLD | DIGIT),
	V("api-key-assign", 'M', "api.key", api_key, 30, FOLD | DIGIT),
	V("api-key-assign", 'M', "apikey", api_key, 30, FOLD | DIGIT),
	V("api-key-assign", 'M', "encryption_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "encryptionkey", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "fernet_key", token, 29, FOLD | DIGIT),
	T("api-key-assign", 'M', "Fernet(%L{0,1}%Q%W{43}=", 35, CASES | DIGIT),
	V("api-key-assign", 'M', "signing_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "signingkey", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "master_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "masterkey", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "access_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "access-key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "accesskey", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "account_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "accountkey", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "auth_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "authkey", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "hmac_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "hmackey", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "private_key", token, 29, FOLD | DIGIT),
	/* with a capital, WireGuard and DNSSEC have rules */
	V("api-key-assign", 'M', "privatekey", token, 29, DIGIT),
	V("api-key-assign", 'M', "privateKey", token, 29, DIGIT),
	V("api-key-assign", 'M', "service_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "storage_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "storagekey", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "license_key", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "licensekey", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "apitoken", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "accesstoken", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "authtoken", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "bearertoken", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "refreshtoken", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "sessiontoken", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "bottoken", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "secrettoken", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "_token", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "-token", token, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "TOKEN", token_word, 29, DIGIT),
	V("api-key-assign", 'M', "token%q", token_short, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "token=", token_short, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "token:", token_short, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "token%s", token_short, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "token[", token_short, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "token,", token_short, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "tokens", token_word, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "token<", token_short, 29, FOLD | DIGIT),
	V("api-key-assign", 'M', "token>", token_short, 29, FOLD | DIGIT),
	/* alone it says what it is in a file of settings only */
	V("api-key-assign", 'M', "KEY=", key_word, 32, CASES | DIGIT),
	V("api-key-assign", 'M', "KEY:", key_word, 32, CASES | DIGIT),
	V("api-key-assign", 'M', "KEY%b", key_word, 32, CASES | DIGIT),
	V("api-key-assign", 'M', "KEY%Q", key_word, 32, CASES | DIGIT),
	/* variables of the environment, of which hexadecimal ones are too */
	V("api-key-assign", 'M', "TOKEN", environment, 25, DIGIT),
	V("api-key-assign", 'M', "_API_KEY", environment, 25, DIGIT),
	V("api-key-assign", 'M', "SECRET_KEY", environment, 25, DIGIT),
	V("api-key-assign", 'M', "PRIVATE_KEY", environment, 25, DIGIT),
	V("api-key-assign", 'M', "ENCRYPTION_KEY", environment, 25, DIGIT),
	V("api-key-assign", 'M', "SIGNING_KEY", environment, 25, DIGIT),
	V("api-key-assign", 'M', "MASTER_KEY", environment, 25, DIGIT),
};
const size_t ab_content_row_count = AB_ARRAY_LEN(ab_content_rows);
_Static_assert(AB_ARRAY_LEN(ab_content_rows) <= AB_CONTENT_ROWS,
	       "each has a probe");

static bool begins_rule(size_t row)
{
	return row == 0 || strcmp(ab_content_rows[row].id,
				  ab_content_rows[row - 1].id) != 0;
}

size_t ab_content_rule_count(void)
{
	size_t n = 0;

	for (size_t i = 0; i < ab_content_row_count; i++) {
		if (begins_rule(i))
			n++;
	}
	return n;
}

/* The first row of a rule; ab_content_row_count when there is none. */
static size_t first_row(size_t rule)
{
	size_t row = 0;

	while (row < ab_content_row_count &&
	       (!begins_rule(row) || rule-- != 0))
		row++;
	return row;
}

const char *ab_content_rule_id(size_t i)
{
	size_t row = first_row(i);

	return row < ab_content_row_count ? ab_content_rows[row].id : NULL;
}

char ab_content_rule_tier(size_t i)
{
	size_t row = first_row(i);

	do {
		if (row == ab_content_row_count ||
		    ab_content_rows[row].tier == 'H')
			return 'H';
		row++;
	} while (row < ab_content_row_count && !begins_rule(row));
	return 'M';
}

size_t ab_content_rule_find(const char *id, size_t n)
{
	size_t i = 0;

	for (const char *at; (at = ab_content_rule_id(i)); i++) {
		if (strlen(at) == n && memcmp(at, id, n) == 0)
			break;
	}
	return i;
}
