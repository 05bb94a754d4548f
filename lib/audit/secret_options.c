/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which options and words of which programs take a secret as an argument.
 * Options whose name says it (--password, --token) are not here: see
 * ab_audit_is_secret_name(). Sources are the programs' own manual pages.
 */
#include "config.h"

#include "audit/arguments.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"

#define LONGEST_WORD 20

/* Sorted by name (tests/unit/audit_redact.c). */
static const struct word {
	const char *name;
	uint8_t word;
} words[] = {
	{ "7z", AB_WORD_SEVENZIP },
	{ "7za", AB_WORD_SEVENZIP },
	{ "7zr", AB_WORD_SEVENZIP },
	{ "7zz", AB_WORD_SEVENZIP },
	{ "SecureString", AB_WORD_SECURE_STRING },
	{ "aws", AB_WORD_AWS },
	{ "az", AB_WORD_AZ },
	{ "bcp", AB_WORD_SQLCMD },
	{ "buildah", AB_WORD_REGISTRY },
	{ "bundle", AB_WORD_SETTING },
	{ "cargo", AB_WORD_CARGO },
	{ "composer", AB_WORD_SETTING },
	{ "config", AB_WORD_CONFIG },
	{ "configure", AB_WORD_CONFIG },
	{ "cqlsh", AB_WORD_DATABASE_CLI },
	{ "curl", AB_WORD_CURL },
	{ "docker", AB_WORD_REGISTRY },
	{ "enc", AB_WORD_ENC },
	{ "gcloud", AB_WORD_SETTING },
	{ "gh", AB_WORD_GH },
	{ "git", AB_WORD_SETTING },
	{ "glab", AB_WORD_GH },
	{ "helm", AB_WORD_REGISTRY },
	{ "htpasswd", AB_WORD_HTPASSWD },
	{ "http", AB_WORD_HTTPIE },
	{ "https", AB_WORD_HTTPIE },
	{ "kubectl", AB_WORD_KUBECTL },
	{ "ldapadd", AB_WORD_LDAP },
	{ "ldapcompare", AB_WORD_LDAP },
	{ "ldapdelete", AB_WORD_LDAP },
	{ "ldapmodify", AB_WORD_LDAP },
	{ "ldappasswd", AB_WORD_LDAP },
	{ "ldapsearch", AB_WORD_LDAP },
	{ "ldapwhoami", AB_WORD_LDAP },
	{ "lftp", AB_WORD_LFTP },
	{ "login", AB_WORD_LOGIN },
	{ "mariadb", AB_WORD_MYSQL },
	{ "mariadb-admin", AB_WORD_MYSQL },
	{ "mariadb-dump", AB_WORD_MYSQL },
	{ "mongo", AB_WORD_MONGO },
	{ "mongodump", AB_WORD_MONGO },
	{ "mongoexport", AB_WORD_MONGO },
	{ "mongoimport", AB_WORD_MONGO },
	{ "mongorestore", AB_WORD_MONGO },
	{ "mongosh", AB_WORD_MONGO },
	{ "mysql", AB_WORD_MYSQL },
	{ "mysqladmin", AB_WORD_MYSQL },
	{ "mysqlcheck", AB_WORD_MYSQL },
	{ "mysqldump", AB_WORD_MYSQL },
	{ "mysqlimport", AB_WORD_MYSQL },
	{ "mysqlshow", AB_WORD_MYSQL },
	{ "nerdctl", AB_WORD_REGISTRY },
	{ "net", AB_WORD_SMB },
	{ "ngrok", AB_WORD_NGROK },
	{ "npm", AB_WORD_SETTING },
	{ "oc", AB_WORD_KUBECTL },
	{ "openssl", AB_WORD_OPENSSL },
	{ "pip", AB_WORD_SETTING },
	{ "pnpm", AB_WORD_SETTING },
	{ "podman", AB_WORD_REGISTRY },
	{ "poetry", AB_WORD_SETTING },
	{ "rabbitmqctl", AB_WORD_RABBITMQ },
	{ "rar", AB_WORD_RAR },
	{ "redis-cli", AB_WORD_REDIS },
	{ "rpcclient", AB_WORD_SMB },
	{ "rsync", AB_WORD_SSH },
	{ "scp", AB_WORD_SSH },
	{ "secret", AB_WORD_SECRET },
	{ "secrets", AB_WORD_SECRET },
	{ "set", AB_WORD_CONFIG },
	{ "sftp", AB_WORD_SSH },
	{ "skopeo", AB_WORD_REGISTRY },
	{ "smbclient", AB_WORD_SMB },
	{ "sqlcmd", AB_WORD_SQLCMD },
	{ "sqlplus", AB_WORD_SQLPLUS },
	{ "ssh", AB_WORD_SSH },
	{ "ssh-keygen", AB_WORD_SSH_KEYGEN },
	{ "sshpass", AB_WORD_SSHPASS },
	{ "twine", AB_WORD_TWINE },
	{ "unrar", AB_WORD_RAR },
	{ "unzip", AB_WORD_ZIP },
	{ "useradd", AB_WORD_USERADD },
	{ "usermod", AB_WORD_USERADD },
	{ "valkey-cli", AB_WORD_REDIS },
	{ "vault", AB_WORD_VAULT },
	{ "xh", AB_WORD_HTTPIE },
	{ "xhs", AB_WORD_HTTPIE },
	{ "yarn", AB_WORD_SETTING },
	{ "zip", AB_WORD_ZIP },
};

static_assert(AB_WORD_COUNT <= 64, "a bit for every word");

#define ANY UINT64_C(0)
#define W(name) AB_WORD(name)

const ab_audit_option ab_audit_options[] = {
	{ ANY, "-H", AB_BOTH, AB_PART_HEADER, 0 },
	{ ANY, "--header", AB_BOTH, AB_PART_HEADER, 0 },
	{ ANY, "--proxy-header", AB_BOTH, AB_PART_HEADER, 0 },
	{ ANY, "--creds", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ ANY, "--src-creds", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ ANY, "--dest-creds", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ W(CURL), "-u", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ W(CURL), "--user", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ W(CURL), "-U", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ W(CURL), "--proxy-user", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ W(CURL), "-E", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ W(CURL), "--cert", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ W(CURL), "--proxy-cert", AB_BOTH, AB_PART_AFTER_COLON, 0 },
	{ W(CURL), "-b", AB_BOTH, AB_PART_COOKIE, 0 },
	{ W(CURL), "--cookie", AB_BOTH, AB_PART_COOKIE, 0 },
	{ W(CURL), "--pass", AB_BOTH, AB_PART_ALL, 0 },
	{ W(CURL), "--proxy-pass", AB_BOTH, AB_PART_ALL, 0 },
	{ W(CURL), "--tlspassword", AB_BOTH, AB_PART_ALL, 0 },
	{ W(CURL), "--proxy-tlspassword", AB_BOTH, AB_PART_ALL, 0 },
	{ W(CURL), "--oauth2-bearer", AB_BOTH, AB_PART_ALL, 0 },
	{ W(HTTPIE), "-a", AB_BOTH, AB_PART_ALL, 0 },
	{ W(HTTPIE), "--auth", AB_BOTH, AB_PART_ALL, 0 },
	/* -p alone asks, and the next argument is a database */
	{ W(MYSQL), "--password", AB_APART, AB_PART_NOTHING, 0 },
	{ W(MYSQL), "-p", AB_GLUED, AB_PART_ALL, 0 },
	{ W(MYSQL), "password", AB_APART, AB_PART_ALL, 0 },
	{ W(MONGO), "-p", AB_BOTH, AB_PART_ALL, 0 },
	{ W(DATABASE_CLI), "-p", AB_BOTH, AB_PART_ALL, 0 },
	{ W(REDIS), "-a", AB_APART, AB_PART_ALL, 0 },
	{ W(REDIS), "--pass", AB_APART, AB_PART_ALL, 0 },
	{ W(REDIS), "AUTH", AB_REST, AB_PART_ALL, 0 },
	{ W(REDIS), "auth", AB_REST, AB_PART_ALL, 0 },
	{ W(SQLCMD), "-P", AB_BOTH, AB_PART_ALL, 0 },
	/* its own -p stands before the ssh it starts */
	{ W(SSHPASS) | W(SSH), "-p", AB_BOTH, AB_PART_NOTHING, 0 },
	{ W(SSHPASS), "-p", AB_BOTH, AB_PART_ALL, 0 },
	{ W(REGISTRY) | W(LOGIN), "-p", AB_BOTH, AB_PART_ALL, 0 },
	{ W(KUBECTL) | W(LOGIN), "-p", AB_BOTH, AB_PART_ALL, 0 },
	{ W(AZ) | W(LOGIN), "-p", AB_BOTH, AB_PART_ALL, 0 },
	{ W(AZ) | W(SECRET), "--value", AB_BOTH, AB_PART_ALL, 0 },
	{ W(KUBECTL), "--from-literal", AB_BOTH, AB_PART_AFTER_EQUALS, 0 },
	{ W(GH) | W(SECRET), "-b", AB_BOTH, AB_PART_ALL, 0 },
	{ W(GH) | W(SECRET), "--body", AB_BOTH, AB_PART_ALL, 0 },
	{ W(AWS), "--secret-string", AB_BOTH, AB_PART_ALL, 0 },
	{ W(AWS), "--secret-binary", AB_BOTH, AB_PART_ALL, 0 },
	{ W(AWS) | W(SECURE_STRING), "--value", AB_BOTH, AB_PART_ALL, 0 },
	{ W(VAULT), "login", AB_APART, AB_PART_ALL, 0 },
	{ W(VAULT), "put", AB_REST, AB_PART_AFTER_EQUALS, 0 },
	{ W(VAULT), "write", AB_REST, AB_PART_AFTER_EQUALS, 0 },
	{ W(CARGO), "login", AB_APART, AB_PART_ALL, 0 },
	/* fly, doppler, supabase, and whoever has secrets to set */
	{ W(SECRET), "set", AB_REST, AB_PART_AFTER_EQUALS, 0 },
	{ W(NGROK), "authtoken", AB_APART, AB_PART_ALL, 0 },
	{ W(NGROK), "add-authtoken", AB_APART, AB_PART_ALL, 0 },
	{ W(TWINE), "-p", AB_BOTH, AB_PART_ALL, 0 },
	{ W(USERADD), "-p", AB_BOTH, AB_PART_ALL, 0 },
	{ W(ZIP), "-P", AB_BOTH, AB_PART_ALL, 0 },
	{ W(SEVENZIP), "-p", AB_GLUED, AB_PART_ALL, 0 },
	{ W(RAR), "-p", AB_GLUED, AB_PART_ALL, 0 },
	{ W(RAR), "-hp", AB_GLUED, AB_PART_ALL, 0 },
	{ W(OPENSSL), "-pass", AB_APART, AB_PART_PASS, 0 },
	{ W(OPENSSL), "-passin", AB_APART, AB_PART_PASS, 0 },
	{ W(OPENSSL), "-passout", AB_APART, AB_PART_PASS, 0 },
	{ W(OPENSSL) | W(ENC), "-k", AB_APART, AB_PART_ALL, 0 },
	{ W(OPENSSL) | W(ENC), "-K", AB_APART, AB_PART_ALL, 0 },
	{ W(LDAP), "-w", AB_BOTH, AB_PART_ALL, 0 },
	{ W(SMB), "-U", AB_BOTH, AB_PART_AFTER_PERCENT, 0 },
	{ W(SMB), "--user", AB_BOTH, AB_PART_AFTER_PERCENT, 0 },
	{ W(LFTP), "-u", AB_BOTH, AB_PART_AFTER_COMMA, 0 },
	{ W(LFTP), "--user", AB_BOTH, AB_PART_AFTER_COMMA, 0 },
	{ ANY, "sqlplus", AB_APART, AB_PART_AFTER_SLASH, 0 },
	{ W(SQLPLUS), "-S", AB_APART, AB_PART_AFTER_SLASH, 0 },
	{ W(SQLPLUS), "-L", AB_APART, AB_PART_AFTER_SLASH, 0 },
	{ W(SSH_KEYGEN), "-N", AB_BOTH, AB_PART_ALL, 0 },
	{ W(SSH_KEYGEN), "-P", AB_BOTH, AB_PART_ALL, 0 },
	{ W(RABBITMQ), "add_user", AB_APART, AB_PART_ALL, 1 },
	{ W(RABBITMQ), "change_password", AB_APART, AB_PART_ALL, 1 },
	{ W(RABBITMQ), "authenticate_user", AB_APART, AB_PART_ALL, 1 },
	{ W(HTPASSWD), "-b", AB_APART, AB_PART_ALL, 2 },
	{ W(HTPASSWD), "-bc", AB_APART, AB_PART_ALL, 2 },
	{ W(HTPASSWD), "-cb", AB_APART, AB_PART_ALL, 2 },
	{ W(HTPASSWD), "-nb", AB_APART, AB_PART_ALL, 1 },
	{ W(HTPASSWD), "-bn", AB_APART, AB_PART_ALL, 1 },
};
const size_t ab_audit_options_count = AB_ARRAY_LEN(ab_audit_options);

static int by_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct word *)item)->name);
}

uint64_t ab_audit_word_bit(const char *p, size_t n)
{
	const char *slash = memrchr(p, '/', n);
	char name[LONGEST_WORD + 1];
	const struct word *found;

	if (slash) {
		n -= (size_t)(slash + 1 - p);
		p = slash + 1;
	}
	if (n < 2 || n > LONGEST_WORD)
		return 0;
	memcpy(name, p, n);
	name[n] = '\0';
	found = bsearch(name, words, AB_ARRAY_LEN(words), sizeof(words[0]),
			by_name);
	return found ? UINT64_C(1) << found->word : 0;
}
