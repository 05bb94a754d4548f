/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The calls of inline programs that run commands or touch files, by language:
 * a table. What their arguments mean is code_judge.c's.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>

/* briefly, for the table */
enum {
	PY = AB_PY,
	PERL = AB_PERL,
	RUBY = AB_RUBY,
	JS = AB_JS,
	PHP = AB_PHP,
	LUA = AB_LUA,
	OTHER = AB_OTHER,
	ALL = AB_ALL_LANGS,
	CALL_SHELL = AB_CALL_SHELL,
	CALL_REMOVE = AB_CALL_REMOVE,
	CALL_DELETE = AB_CALL_DELETE,
	CALL_WRITE = AB_CALL_WRITE,
	CALL_READ = AB_CALL_READ,
	CALL_OPEN = AB_CALL_OPEN,
	CALL_CHMOD = AB_CALL_CHMOD,
	CALL_SQL = AB_CALL_SQL,
	CALL_RENAME = AB_CALL_RENAME,
	CALL_COPY = AB_CALL_COPY,
	CALL_LINK = AB_CALL_LINK,
	CALL_ALIAS = AB_CALL_ALIAS,
	CALL_FETCH = AB_CALL_FETCH,
	CALL_GLOB = AB_CALL_GLOB,
	CALL_WALK = AB_CALL_WALK,
	CALL_CODE = AB_CALL_CODE,
	CALL_CHDIR = AB_CALL_CHDIR,
	CALL_READS = AB_CALL_READS,
	CALL_WRITES = AB_CALL_WRITES,
	CALL_URL = AB_CALL_URL,
	CALL_PATH = AB_CALL_PATH,
	CALL_PIPE = AB_CALL_PIPE,
	CALL_LOAD = AB_CALL_LOAD
};

/* Path(x).replace("y"): of a text there would be two. */
#define ALONE ""

/* What has the name as well may be something else: `of` says whose it is, with
   a plus that it may be called without any; NULL: whoever's. */
static const struct {
	const char *name;
	uint8_t langs, kind;
	const char *of;
} calls[] = {
	/* what runs a command */
	{ "system", ALL, CALL_SHELL },
	{ "popen", ALL, CALL_SHELL },
	{ "exec", PERL | RUBY | JS | PHP | OTHER, CALL_SHELL },
	{ "spawn", PY | RUBY | JS | OTHER, CALL_SHELL },
	{ "run", PY | PERL | OTHER, CALL_SHELL },
	{ "shell", PERL | OTHER, CALL_SHELL },
	{ "sh", RUBY | OTHER, CALL_SHELL },
	{ "Command", JS | OTHER, CALL_SHELL },
	{ "Popen", PY, CALL_SHELL },
	{ "call", PY, CALL_SHELL },
	{ "check_call", PY, CALL_SHELL },
	{ "check_output", PY, CALL_SHELL },
	{ "getoutput", PY, CALL_SHELL },
	{ "getstatusoutput", PY, CALL_SHELL },
	{ "execv", PY, CALL_SHELL },
	{ "execl", PY, CALL_SHELL },
	{ "execlp", PY, CALL_SHELL },
	{ "execvp", PY, CALL_SHELL },
	{ "execve", PY, CALL_SHELL },
	{ "spawnl", PY, CALL_SHELL },
	{ "spawnv", PY, CALL_SHELL },
	{ "spawnlp", PY, CALL_SHELL },
	{ "spawnvp", PY, CALL_SHELL },
	{ "posix_spawn", PY, CALL_SHELL },
	{ "posix_spawnp", PY, CALL_SHELL },
	{ "execle", PY, CALL_SHELL },
	{ "execlpe", PY, CALL_SHELL },
	{ "execvpe", PY, CALL_SHELL },
	{ "spawnle", PY, CALL_SHELL },
	{ "spawnve", PY, CALL_SHELL },
	{ "spawnlpe", PY, CALL_SHELL },
	{ "spawnvpe", PY, CALL_SHELL },
	{ "create_subprocess_shell", PY, CALL_SHELL },
	{ "create_subprocess_exec", PY, CALL_SHELL },
	{ "capture2", RUBY, CALL_SHELL },
	{ "capture2e", RUBY, CALL_SHELL },
	{ "capture3", RUBY, CALL_SHELL },
	{ "popen3", RUBY, CALL_SHELL },
	{ "execSync", JS, CALL_SHELL },
	{ "execFile", JS, CALL_SHELL },
	{ "execFileSync", JS, CALL_SHELL },
	{ "spawnSync", JS, CALL_SHELL },
	{ "shell_exec", PHP, CALL_SHELL },
	{ "passthru", PHP, CALL_SHELL },
	{ "readpipe", PERL, CALL_SHELL },
	{ "execa", JS, CALL_SHELL },
	{ "execaSync", JS, CALL_SHELL },
	{ "execaCommand", JS, CALL_SHELL },
	{ "execaCommandSync", JS, CALL_SHELL },
	{ "proc_open", PHP, CALL_SHELL },
	{ "pcntl_exec", PHP, CALL_SHELL },
	{ "execute", LUA, CALL_SHELL },
	{ "ProcessBuilder", OTHER, CALL_SHELL },
	{ "run_command", OTHER, CALL_SHELL },
	{ "script", OTHER, CALL_SHELL },
	{ "command", OTHER, CALL_SHELL },
	{ "process", OTHER, CALL_SHELL },
	{ "system2", OTHER, CALL_SHELL },
	{ "call-process", OTHER, CALL_SHELL },
	{ "callCommand", OTHER, CALL_SHELL },
	{ "callProcess", OTHER, CALL_SHELL },
	{ "readProcess", OTHER, CALL_SHELL },
	{ "rawSystem", OTHER, CALL_SHELL },
	{ "run-program", OTHER, CALL_SHELL },
	{ "run-shell-command", OTHER, CALL_SHELL },
	{ "cmd", OTHER, CALL_SHELL },
	{ "popen2", RUBY, CALL_SHELL },
	{ "popen2e", RUBY, CALL_SHELL },
	{ "pipeline", RUBY | OTHER, CALL_PIPE },
	{ "pipeline_r", RUBY, CALL_PIPE },
	{ "pipeline_w", RUBY, CALL_PIPE },
	{ "pipeline_rw", RUBY, CALL_PIPE },
	{ "pipeline_start", RUBY, CALL_PIPE },
	{ "open2", PERL, CALL_SHELL },
	{ "open3", PERL, CALL_SHELL },
	{ "execl", PERL, CALL_SHELL, "+POSIX" },
	{ "execlp", PERL, CALL_SHELL, "+POSIX" },
	{ "execv", PERL, CALL_SHELL, "+POSIX" },
	{ "execve", PERL, CALL_SHELL, "+POSIX" },
	{ "execvp", PERL, CALL_SHELL, "+POSIX" },
	{ "run3", PERL, CALL_SHELL },
	{ "systemx", PERL, CALL_SHELL },
	{ "capturex", PERL, CALL_SHELL },
	{ "proc", OTHER, CALL_SHELL },
	{ "runSync", OTHER, CALL_SHELL },
	{ "executeShell", OTHER, CALL_SHELL },
	{ "spawnShell", OTHER, CALL_SHELL },
	{ "spawnProcess", OTHER, CALL_SHELL },
	{ "execute", OTHER, CALL_SHELL, "+os process" },
	{ "sys-system", OTHER, CALL_SHELL },
	{ "Exec", OTHER, CALL_SHELL },
	{ "Run", OTHER, CALL_SHELL },
	{ "RunProcess", OTHER, CALL_SHELL },
	{ "exec_command", PY, CALL_SHELL },
	{ "exec_run", PY, CALL_SHELL },
	{ "local", PY, CALL_SHELL, "fabric" },
	{ "sync", JS, CALL_SHELL, "spawn crossSpawn" },
	{ "command", JS, CALL_SHELL, "execa" },
	{ "commandSync", JS, CALL_SHELL, "execa" },
	{ "Process", PHP, CALL_SHELL },
	{ "fromShellCommandline", PHP, CALL_SHELL },
	{ "chdir", ALL, CALL_CHDIR },
	/* what runs code */
	{ "eval", PY | PERL | RUBY | JS | PHP, CALL_CODE },
	{ "exec", PY, CALL_CODE },
	{ "timeit", PY, CALL_CODE },
	{ "instance_eval", RUBY, CALL_CODE },
	{ "class_eval", RUBY, CALL_CODE },
	{ "module_eval", RUBY, CALL_CODE },
	{ "Function", JS, CALL_CODE },
	{ "runInThisContext", JS, CALL_CODE },
	{ "runInNewContext", JS, CALL_CODE },
	{ "runInContext", JS, CALL_CODE },
	{ "Script", JS, CALL_CODE },
	{ "create_function", PHP, CALL_CODE },
	{ "load", LUA, CALL_CODE },
	{ "loadstring", LUA, CALL_CODE },
	{ "eval_string", OTHER, CALL_CODE },
	{ "compile", PY, CALL_CODE, "+builtins" },
	{ "runsource", PY, CALL_CODE },
	{ "runcode", PY, CALL_CODE },
	{ "run_cell", PY, CALL_CODE },
	{ "Worker", JS, CALL_CODE },
	{ "include_string", OTHER, CALL_CODE },
	/* what runs statements */
	{ "prepare", PERL | JS | PHP, CALL_SQL },
	{ "query", RUBY | JS | PHP, CALL_SQL },
	{ "execute", RUBY | JS | PHP, CALL_SQL },
	{ "execute", PY, CALL_SQL },
	{ "executescript", PY, CALL_SQL },
	{ "executemany", PY, CALL_SQL },
	{ "text", PY, CALL_SQL },
	{ "sql", PY, CALL_SQL },
	{ "do", PERL, CALL_SQL },
	{ "exec_params", RUBY, CALL_SQL },
	{ "async_exec", RUBY, CALL_SQL },
	{ "raw", JS, CALL_SQL },
	{ "$executeRawUnsafe", JS, CALL_SQL },
	{ "$queryRawUnsafe", JS, CALL_SQL },
	{ "run", JS, CALL_SQL },
	{ "mysqli_query", PHP, CALL_SQL },
	{ "pg_query", PHP, CALL_SQL },
	/* what removes a tree */
	{ "rmtree", PY | PERL | RUBY, CALL_REMOVE },
	{ "rm_rf", RUBY | OTHER, CALL_REMOVE },
	{ "rm", JS | OTHER, CALL_REMOVE },
	{ "removedirs", PY, CALL_REMOVE },
	{ "remove_tree", PERL, CALL_REMOVE },
	{ "rm_r", RUBY, CALL_REMOVE },
	{ "remove_dir", RUBY, CALL_REMOVE },
	{ "remove_entry_secure", RUBY, CALL_REMOVE },
	{ "remove_entry", RUBY, CALL_REMOVE },
	{ "rmSync", JS, CALL_REMOVE },
	{ "rmdirSync", JS, CALL_REMOVE },
	{ "removeSync", JS, CALL_REMOVE },
	{ "rimraf", JS, CALL_REMOVE },
	{ "emptyDirSync", JS, CALL_REMOVE },
	{ "removeItem", OTHER, CALL_REMOVE },
	{ "removeDirectoryRecursive", OTHER, CALL_REMOVE },
	{ "deleteDir", OTHER, CALL_REMOVE },
	{ "deleteRecursively", OTHER, CALL_REMOVE },
	{ "delete-directory-tree", OTHER, CALL_REMOVE },
	{ "delete-directory", OTHER, CALL_REMOVE },
	/* what removes one file */
	{ "unlink", ALL, CALL_DELETE },
	{ "rmdir", ALL, CALL_DELETE },
	{ "remove", PY | JS | LUA, CALL_DELETE },
	{ "delete", RUBY, CALL_DELETE },
	{ "rm_f", RUBY, CALL_DELETE },
	{ "unlinkSync", JS, CALL_DELETE },
	{ "delete-file", OTHER, CALL_DELETE },
	{ "rename", ALL, CALL_RENAME },
	{ "move", PY | PERL, CALL_RENAME },
	{ "mv", RUBY, CALL_RENAME },
	{ "renameSync", JS, CALL_RENAME },
	{ "open", ALL, CALL_OPEN },
	{ "openSync", JS, CALL_OPEN },
	{ "fopen", PHP, CALL_OPEN },
	{ "expanduser", PY, CALL_READ },
	{ "Path", PY, CALL_READ },
	{ "Pathname", RUBY, CALL_READ },
	{ "foreach", RUBY, CALL_READ },
	{ "file", PHP, CALL_READ },
	{ "highlight_file", PHP, CALL_READ },
	{ "show_source", PHP, CALL_READ },
	{ "lines", LUA, CALL_READ },
	{ "expand_path", RUBY, CALL_READ },
	{ "read", RUBY, CALL_READ },
	{ "readlines", RUBY, CALL_READ },
	{ "readFileSync", JS, CALL_READ },
	{ "readFile", JS, CALL_READ },
	{ "readTextFile", JS, CALL_READ },
	{ "readTextFileSync", JS, CALL_READ },
	{ "createReadStream", JS, CALL_READ },
	{ "file_get_contents", PHP, CALL_READ },
	{ "readfile", PHP, CALL_READ },
	{ "truncate", ALL, CALL_WRITE },
	{ "makedirs", PY, CALL_WRITE },
	{ "write", RUBY, CALL_WRITE },
	{ "mkdir_p", RUBY | OTHER, CALL_WRITE },
	{ "touch", RUBY, CALL_WRITE },
	{ "writeFileSync", JS, CALL_WRITE },
	{ "writeFile", JS, CALL_WRITE },
	{ "appendFileSync", JS, CALL_WRITE },
	{ "writeTextFile", JS, CALL_WRITE },
	{ "truncateSync", JS, CALL_WRITE },
	{ "mkdirSync", JS, CALL_WRITE },
	{ "createWriteStream", JS, CALL_WRITE },
	{ "file_put_contents", PHP, CALL_WRITE },
	{ "copy", PY | PERL | PHP, CALL_COPY },
	{ "copyfile", PY, CALL_COPY },
	{ "copy2", PY, CALL_COPY },
	{ "copytree", PY, CALL_COPY },
	{ "cp", RUBY, CALL_COPY },
	{ "cp_r", RUBY, CALL_COPY },
	{ "copyFileSync", JS, CALL_COPY },
	{ "cpSync", JS, CALL_COPY },
	{ "copyFile", JS, CALL_COPY },
	/* what saves what the network sent */
	{ "urlretrieve", PY, CALL_FETCH },
	{ "getstore", PERL, CALL_FETCH },
	{ "mirror", PERL, CALL_FETCH },
	{ "download", PY, CALL_FETCH, "wget gdown" },
	{ "download", OTHER, CALL_FETCH },
	{ "file", OTHER, CALL_FETCH, "download" },
	{ "curl_download", OTHER, CALL_FETCH },
	{ "url-copy-file", OTHER, CALL_FETCH },
	{ "symlink", ALL, CALL_LINK },
	{ "ln_s", RUBY, CALL_LINK },
	{ "ln_sf", RUBY, CALL_LINK },
	{ "symlinkSync", JS, CALL_LINK },
	/* hard links */
	{ "link", PY | PERL | RUBY | PHP, CALL_ALIAS },
	{ "ln", RUBY, CALL_ALIAS },
	{ "linkSync", JS, CALL_ALIAS },
	{ "chmod", ALL, CALL_CHMOD },
	{ "chmodSync", JS, CALL_CHMOD },
	/* files by the module or the class that does it */
	{ "replace", PY, CALL_RENAME, "+os" },
	{ "replace", PY, CALL_RENAME, ALONE },
	{ "renames", PY, CALL_RENAME },
	{ "unpack_archive", PY, CALL_COPY },
	{ "make_archive", PY, CALL_READS },
	{ "extractall", PY, CALL_WRITE },
	{ "copyfileobj", PY, CALL_READS },
	{ "chown", PY | PERL | JS | PHP | LUA | OTHER, CALL_WRITE },
	{ "chown", RUBY, CALL_WRITES },
	{ "lchown", PY | JS | PHP, CALL_WRITE },
	{ "chownSync", JS, CALL_WRITE },
	{ "lchownSync", JS, CALL_WRITE },
	{ "mkdir", ALL, CALL_WRITE },
	{ "mkfifo", PY | PERL | RUBY, CALL_WRITE },
	{ "mknod", PY, CALL_WRITE },
	{ "FileIO", PY, CALL_OPEN },
	{ "ZipFile", PY, CALL_OPEN },
	{ "basicConfig", PY, CALL_WRITES },
	{ "FileHandler", PY, CALL_WRITE },
	{ "RotatingFileHandler", PY, CALL_WRITE },
	{ "TimedRotatingFileHandler", PY, CALL_WRITE },
	{ "WatchedFileHandler", PY, CALL_WRITE },
	{ "to_csv", PY, CALL_WRITE },
	{ "to_json", PY, CALL_WRITE },
	{ "to_excel", PY, CALL_WRITE },
	{ "to_parquet", PY, CALL_WRITE },
	{ "to_pickle", PY, CALL_WRITE },
	{ "to_feather", PY, CALL_WRITE },
	{ "to_hdf", PY, CALL_WRITE },
	{ "to_html", PY, CALL_WRITE },
	{ "to_latex", PY, CALL_WRITE },
	{ "to_markdown", PY, CALL_WRITE },
	{ "to_orc", PY, CALL_WRITE },
	{ "to_stata", PY, CALL_WRITE },
	{ "to_xml", PY, CALL_WRITE },
	{ "to_file", PY, CALL_WRITE },
	{ "write_csv", PY, CALL_WRITE },
	{ "write_json", PY, CALL_WRITE },
	{ "write_parquet", PY, CALL_WRITE },
	{ "write_html", PY, CALL_WRITE },
	{ "write_image", PY, CALL_WRITE },
	{ "tofile", PY, CALL_WRITE },
	{ "save", PY, CALL_WRITE },
	{ "savez", PY, CALL_WRITE },
	{ "savez_compressed", PY, CALL_WRITE },
	{ "savetxt", PY, CALL_WRITE },
	{ "savefig", PY, CALL_WRITE },
	{ "imsave", PY, CALL_WRITE },
	{ "imwrite", PY, CALL_WRITE },
	{ "dump", PY, CALL_WRITES, "joblib" },
	{ "getline", PY, CALL_READ, "+linecache" },
	{ "getlines", PY, CALL_READ },
	{ "input", PY, CALL_READS, "fileinput FileInput" },
	{ "FileInput", PY, CALL_READS },
	{ "read", PY, CALL_READS },
	{ "read_csv", PY, CALL_READ },
	{ "read_table", PY, CALL_READ },
	{ "read_fwf", PY, CALL_READ },
	{ "read_json", PY, CALL_READ },
	{ "read_ndjson", PY, CALL_READ },
	{ "read_excel", PY, CALL_READ },
	{ "read_parquet", PY, CALL_READ },
	{ "read_pickle", PY, CALL_READ },
	{ "read_feather", PY, CALL_READ },
	{ "read_hdf", PY, CALL_READ },
	{ "read_html", PY, CALL_READ },
	{ "read_orc", PY, CALL_READ },
	{ "read_sas", PY, CALL_READ },
	{ "read_spss", PY, CALL_READ },
	{ "read_stata", PY, CALL_READ },
	{ "read_xml", PY, CALL_READ },
	{ "read_file", PY, CALL_READ },
	{ "scan_csv", PY, CALL_READ },
	{ "scan_parquet", PY, CALL_READ },
	{ "scan_ndjson", PY, CALL_READ },
	{ "load", PY, CALL_READ },
	{ "loadtxt", PY, CALL_READ },
	{ "genfromtxt", PY, CALL_READ },
	{ "fromfile", PY, CALL_READ },
	{ "memmap", PY, CALL_OPEN },
	{ "imread", PY, CALL_READ },
	{ "parse", PY, CALL_READ, "ET ElementTree etree minidom" },
	{ "dotenv_values", PY, CALL_READ },
	{ "netrc", PY, CALL_READ },
	{ "get_data", PY, CALL_READ, "pkgutil" },
	{ "connect", PY, CALL_READ, "sqlite3" },
	{ "add", PY, CALL_READ, "t tf tar tarball archive" },
	{ "write", PY, CALL_READ, "z zf zip zipf archive" },
	{ "upload_file", PY, CALL_READ },
	{ "upload_from_filename", PY, CALL_READ },
	{ "put", PY, CALL_READ, "sftp" },
	{ "urlopen", PY, CALL_URL },
	{ "Request", PY | JS, CALL_URL },
	{ "fetch", JS, CALL_URL },
	{ "URL", JS, CALL_URL },
	{ "curl_init", PHP, CALL_URL },
	{ "curl_setopt", PHP, CALL_URL },
	{ "ARGV", PERL, CALL_READS },
	{ "sysopen", PERL, CALL_OPEN },
	{ "read_file", PERL, CALL_READ },
	{ "read_text", PERL, CALL_READ },
	{ "read_lines", PERL, CALL_READ },
	{ "slurp", PERL | OTHER, CALL_READ },
	{ "path", PERL, CALL_PATH },
	{ "write_file", PERL, CALL_WRITE },
	{ "append_file", PERL, CALL_WRITE },
	{ "write_text", PERL, CALL_WRITE },
	{ "make_path", PERL, CALL_WRITE },
	{ "mkpath", PERL | OTHER, CALL_WRITE },
	{ "cp", PERL, CALL_COPY },
	{ "rcopy", PERL, CALL_COPY },
	{ "fcopy", PERL, CALL_COPY },
	{ "dircopy", PERL, CALL_COPY },
	{ "mv", PERL, CALL_RENAME },
	{ "new", PERL | RUBY, CALL_OPEN, "File" },
	{ "copy_stream", RUBY, CALL_COPY },
	{ "copy_file", RUBY, CALL_COPY },
	{ "copy_entry", RUBY, CALL_COPY },
	{ "copy", RUBY, CALL_COPY, "FileUtils" },
	{ "install", RUBY, CALL_COPY, "FileUtils" },
	{ "move", RUBY, CALL_RENAME, "FileUtils" },
	{ "rm", RUBY, CALL_DELETE },
	{ "remove", RUBY, CALL_DELETE, "FileUtils" },
	{ "remove_file", RUBY, CALL_DELETE },
	{ "safe_unlink", RUBY, CALL_DELETE },
	{ "binread", RUBY, CALL_READ },
	{ "binwrite", RUBY, CALL_WRITE },
	{ "mkpath", RUBY, CALL_WRITE },
	{ "makedirs", RUBY, CALL_WRITE },
	{ "load_file", RUBY, CALL_READ },
	{ "appendFile", JS, CALL_WRITE },
	{ "outputFile", JS, CALL_WRITE },
	{ "outputFileSync", JS, CALL_WRITE },
	{ "outputJson", JS, CALL_WRITE },
	{ "outputJsonSync", JS, CALL_WRITE },
	{ "writeJson", JS, CALL_WRITE },
	{ "writeJsonSync", JS, CALL_WRITE },
	{ "ensureDir", JS, CALL_WRITE },
	{ "ensureDirSync", JS, CALL_WRITE },
	{ "ensureFile", JS, CALL_WRITE },
	{ "ensureFileSync", JS, CALL_WRITE },
	{ "readJson", JS, CALL_READ },
	{ "readJsonSync", JS, CALL_READ },
	{ "moveSync", JS, CALL_RENAME },
	{ "move", JS, CALL_RENAME, "+fs fse extra" },
	{ "copySync", JS, CALL_COPY },
	{ "copy", JS, CALL_COPY, "+fs fse extra" },
	{ "cp", JS, CALL_COPY, "+fs fsp promises" },
	{ "file", JS, CALL_READ, "Bun" },
	{ "write", JS, CALL_WRITE, "Bun" },
	{ "removeSync", JS, CALL_REMOVE, "Deno" },
	{ "mkdtempSync", JS, CALL_WRITE },
	{ "extractAllTo", JS, CALL_WRITE },
	{ "touch", PHP | OTHER, CALL_WRITE },
	{ "SplFileObject", PHP, CALL_OPEN },
	{ "gzopen", PHP, CALL_OPEN },
	{ "gzfile", PHP, CALL_READ },
	{ "readgzfile", PHP, CALL_READ },
	{ "chgrp", PHP, CALL_WRITE },
	{ "parse_ini_file", PHP, CALL_READ },
	{ "simplexml_load_file", PHP, CALL_READ },
	{ "extractTo", PHP, CALL_WRITE },
	{ "output", LUA, CALL_WRITE, "io" },
	{ "input", LUA, CALL_READ, "io" },
	{ "loadfile", LUA, CALL_LOAD },
	{ "dofile", LUA, CALL_LOAD },
	{ "run_path", PY, CALL_LOAD },
	{ "execfile", PY, CALL_LOAD },
	{ "load", RUBY, CALL_LOAD },
	{ "require", RUBY | PERL | PHP, CALL_LOAD },
	{ "require_relative", RUBY, CALL_LOAD },
	{ "require_once", PHP, CALL_LOAD },
	{ "include", PHP | OTHER, CALL_LOAD },
	{ "include_once", PHP, CALL_LOAD },
	{ "source", OTHER, CALL_LOAD },
	{ "load-file", OTHER, CALL_LOAD },
	{ "load", OTHER, CALL_LOAD },
	/* R, julia, groovy and others; a name alone is a function of theirs */
	{ "File", OTHER, CALL_PATH },
	{ "of", OTHER, CALL_PATH, "Path" },
	{ "get", OTHER, CALL_PATH, "Paths" },
	{ "file", OTHER, CALL_OPEN },
	{ "gzfile", OTHER, CALL_OPEN },
	{ "readLines", OTHER, CALL_READ },
	{ "readline", OTHER, CALL_READ },
	{ "readlines", OTHER, CALL_READ },
	{ "eachline", OTHER, CALL_READ },
	{ "readRDS", OTHER, CALL_READ },
	{ "readRenviron", OTHER, CALL_READ },
	{ "scan", OTHER, CALL_READ },
	{ "fread", OTHER, CALL_READ },
	{ "csv", OTHER, CALL_READ, "read" },
	{ "csv2", OTHER, CALL_READ, "read" },
	{ "delim", OTHER, CALL_READ, "read" },
	{ "table", OTHER, CALL_READ, "read" },
	{ "csv", OTHER, CALL_WRITES, "write" },
	{ "table", OTHER, CALL_WRITES, "write" },
	{ "read_csv", OTHER, CALL_READ },
	{ "read_tsv", OTHER, CALL_READ },
	{ "read_lines", OTHER, CALL_READ },
	{ "read_file", OTHER, CALL_READ },
	{ "readFile", OTHER, CALL_READ },
	{ "readfile", OTHER, CALL_READ },
	{ "readString", OTHER, CALL_READ },
	{ "readAllLines", OTHER, CALL_READ },
	{ "readAllBytes", OTHER, CALL_READ },
	{ "fromFile", OTHER, CALL_READ, "+Source" },
	{ "FileReader", OTHER, CALL_READ },
	{ "FileInputStream", OTHER, CALL_READ },
	{ "contentsOfFile", OTHER, CALL_READ },
	{ "read", OTHER, CALL_READ, "+File Files IO" },
	{ "open-input-file", OTHER, CALL_READ },
	{ "call-with-input-file", OTHER, CALL_READ },
	{ "with-input-from-file", OTHER, CALL_READ },
	{ "file-", OTHER, CALL_READ }, /* file->string */
	{ "insert-file-contents", OTHER, CALL_READ },
	{ "writeLines", OTHER, CALL_WRITES },
	{ "saveRDS", OTHER, CALL_WRITES },
	{ "fwrite", OTHER, CALL_WRITES },
	{ "sink", OTHER, CALL_WRITE },
	{ "write_disk", OTHER, CALL_WRITE },
	{ "write_csv", OTHER, CALL_WRITES },
	{ "ggsave", OTHER, CALL_WRITE },
	{ "writeFile", OTHER, CALL_WRITE },
	{ "appendFile", OTHER, CALL_WRITE },
	{ "writefile", OTHER, CALL_WRITES },
	{ "writeString", OTHER, CALL_WRITE },
	{ "FileWriter", OTHER, CALL_WRITE },
	{ "FileOutputStream", OTHER, CALL_WRITE },
	{ "PrintWriter", OTHER, CALL_WRITE },
	{ "toFile", OTHER, CALL_WRITE },
	{ "createFile", OTHER, CALL_WRITE },
	{ "createDirectories", OTHER, CALL_WRITE },
	{ "createDirectory", OTHER, CALL_WRITE },
	{ "write", OTHER, CALL_WRITE, "+File Files" },
	{ "create", OTHER, CALL_WRITE, "file dir" },
	{ "spit", OTHER, CALL_WRITE },
	{ "open-output-file", OTHER, CALL_WRITE },
	{ "call-with-output-file", OTHER, CALL_WRITE },
	{ "with-output-to-file", OTHER, CALL_WRITE },
	{ "write-region", OTHER, CALL_WRITES },
	{ "copy", OTHER, CALL_COPY, "+file File Files" },
	{ "cp", OTHER, CALL_COPY, "+File" },
	{ "cp_r", OTHER, CALL_COPY, "+File" },
	{ "copyFile", OTHER, CALL_COPY },
	{ "copyItem", OTHER, CALL_COPY },
	{ "copy-file", OTHER, CALL_COPY },
	{ "move", OTHER, CALL_RENAME, "Files" },
	{ "mv", OTHER, CALL_RENAME, "+File" },
	{ "renameFile", OTHER, CALL_RENAME },
	{ "moveItem", OTHER, CALL_RENAME },
	{ "rename-file", OTHER, CALL_RENAME },
	{ "remove", OTHER, CALL_DELETE, "+file File os" },
	{ "delete", OTHER, CALL_DELETE, "+File Files" },
	{ "deleteIfExists", OTHER, CALL_DELETE, "Files" },
	{ "removeFile", OTHER, CALL_DELETE },
	{ "removePathForcibly", OTHER, CALL_REMOVE },
	/* patterns, and walks through a tree */
	{ "glob", PY | PERL | RUBY | JS | PHP, CALL_GLOB },
	{ "iglob", PY, CALL_GLOB },
	{ "Dir", RUBY, CALL_GLOB },
	{ "globSync", JS, CALL_GLOB },
	{ "opendir", ALL, CALL_WALK },
	{ "find", PERL | RUBY, CALL_WALK },
	{ "walk", PY, CALL_WALK },
	{ "fwalk", PY, CALL_WALK },
	{ "scandir", PY, CALL_WALK },
	{ "listdir", PY, CALL_WALK },
	{ "finddepth", PERL, CALL_WALK },
	{ "each_child", RUBY, CALL_WALK },
	{ "children", RUBY, CALL_WALK },
	{ "readdirSync", JS, CALL_WALK },
	{ "readdir", JS, CALL_WALK },
	{ "scandir", PHP, CALL_WALK },
	{ "RecursiveDirectoryIterator", PHP, CALL_WALK },
};

uint8_t ab_code_lang(const char *lang)
{
	static const char *const names[] = { "python", "perl", "ruby", "js",
					     "php",    "lua",  "awk" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		if (!strcmp(names[i], lang))
			return (uint8_t)(1u << i);
	}
	return AB_OTHER;
}

uint64_t ab_code_heads(uint8_t lang)
{
	uint64_t heads = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		if (calls[i].langs & lang)
			heads |= ab_pair_bit(calls[i].name,
					     strlen(calls[i].name));
	}
	return heads;
}

/* The name before the sign before a call: os.replace, File::new, and what
   require("fs") gives. */
static bool is_owner(const struct ab_word *text, uint32_t at, const char *of)
{
	const char *s = text->text;
	uint32_t end, n;

	if (at && memchr(">:", s[at - 1], 2))
		at--;
	at -= at > 0;
	if (at && s[at - 1] == '?')
		at--;
	while (at && memchr("\"')", s[at - 1], 3))
		at--;
	for (end = at; at && ab_code_is_letter(s[at - 1]);)
		at--;
	n = end - at;
	for (const char *from = of; n && *from; from += *from == ' ') {
		size_t len = strcspn(from, " ");

		if (len == n && !memcmp(from, s + at, n))
			return true;
		from += len;
	}
	return false;
}

/* ("x") */
static bool is_alone(const struct ab_code *k, const struct ab_token *t)
{
	struct ab_lexer x = k->x;
	struct ab_token next;

	x.pos = t->at + t->len;
	return ab_lexer_next(&x, &next) && ab_code_is_sign(k, &next, '(') &&
	       ab_lexer_next(&x, &next) && next.kind == AB_TOKEN_STRING &&
	       ab_lexer_next(&x, &next) && ab_code_is_sign(k, &next, ')');
}

/* It is called as what `of` says. */
static bool is_of(const struct ab_code *k, const struct ab_token *t,
		  const char *of)
{
	uint32_t at = t->at;
	char last = ab_code_last_byte(k->text, &at);
	bool is_free = *of == '+';

	of += is_free;
	if (!*of)
		return last == '.' && is_alone(k, t);
	if (last == '.' || last == ':' ||
	    (last == '>' && at > 1 && k->text->text[at - 2] == '-'))
		return is_owner(k->text, at, of);
	return is_free && ab_code_next_byte(k->text, t->at + t->len) == '(';
}

static uint8_t find_call(const struct ab_code *k, const char *s, uint32_t len,
			 const struct ab_token *t)
{
	if (!len || !(k->heads & ab_pair_bit(s, len)))
		return AB_CALL_NONE;
	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		if (calls[i].name[0] == *s && (calls[i].langs & k->lang) &&
		    strlen(calls[i].name) == len &&
		    !memcmp(calls[i].name, s, len) &&
		    (!calls[i].of || (t && is_of(k, t, calls[i].of))))
			return calls[i].kind;
	}
	return AB_CALL_NONE;
}

uint8_t ab_code_call_of(const struct ab_code *k, const char *s, uint32_t len)
{
	return find_call(k, s, len, NULL);
}

/* What makes git or any program a method: repo.git.push(), sh.rm(),
   require("simple-git")().push(). */
static uint8_t library_call(const struct ab_code *k, const struct ab_token *t)
{
	/* js: what else may have the name */
	static const char *const names[] = {
		"push",	    "pull",  "fetch",  "clone",	   "reset", "checkout",
		"merge",    "rebase", "clean", "raw",	   "revert", "mirror",
		"subModule", "deleteBranch", "addRemote",
	};
	const struct ab_word *text = k->text;
	uint32_t at = t->at, before;
	bool is_name = k->lang == AB_PY;

	if (!(k->modules & AB_MODULE_GIT) ||
	    ab_code_last_byte(text, &at) != '.' ||
	    ab_code_next_byte(text, t->at + t->len) != '(')
		return AB_CALL_NONE;
	if (k->lang == AB_PY && k->modules & AB_MODULE_SH &&
	    is_owner(text, at, "sh"))
		return AB_CALL_ARGV;
	for (size_t i = 0; i < AB_ARRAY_LEN(names) && !is_name; i++)
		is_name = ab_code_is_text(k, t, names[i]);
	if (!is_name)
		return AB_CALL_NONE;
	if (k->lang == AB_JS)
		return (at > 1 && text->text[at - 2] == ')') ||
				       is_owner(text, at, "git repo simpleGit")
			       ? AB_CALL_GIT
			       : AB_CALL_NONE;
	/* of the module itself are none, but for sh's */
	before = at > 4 ? at - 4 : 0;
	return is_owner(text, at, "git") &&
			       (k->modules & AB_MODULE_SH ||
				ab_code_last_byte(text, &before) == '.')
		       ? AB_CALL_GIT
		       : AB_CALL_NONE;
}

uint8_t ab_code_call(const struct ab_code *k, const struct ab_token *t)
{
	uint8_t kind = library_call(k, t);

	return kind != AB_CALL_NONE
		       ? kind
		       : find_call(k, k->text->text + t->at, t->len, t);
}

/* How often the name is there, but in calls with nothing but literals. */
static uint32_t count_open(const struct ab_word *text, const char *name)
{
	const char *at = text->text, *end = text->text + text->len;
	size_t n = strlen(name);
	uint32_t count = 0;

	for (; (at = memmem(at, (size_t)(end - at), name, n)); at++) {
		if ((at == text->text || !ab_code_is_letter(at[-1])) &&
		    (at + n == end || !ab_code_is_letter(at[n])) &&
		    !ab_code_is_literal_call(text, (uint32_t)(at - text->text),
					     (uint32_t)n))
			count++;
	}
	return count;
}

uint32_t ab_code_count_removals(const struct ab_code *k,
				const struct ab_word *text)
{
	uint32_t count = 0;

	for (size_t i = 0; i < AB_ARRAY_LEN(calls); i++) {
		if ((calls[i].kind == CALL_REMOVE ||
		     calls[i].kind == CALL_DELETE ||
		     calls[i].kind == CALL_RENAME) &&
		    !calls[i].of && (calls[i].langs & k->lang))
			count += count_open(text, calls[i].name);
	}
	return count;
}

