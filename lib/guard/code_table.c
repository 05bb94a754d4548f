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

/* By name, as tests/unit/guard_code_internal.c checks; of rows with the same
   name the first counts that fits. What has the name as well may be something
   else: `of` says whose it is, with a plus that it may be called without any;
   NULL: whoever's. */
static const struct {
	const char *name;
	uint8_t langs, kind;
	const char *of;
} calls[] = {
	{ "$executeRawUnsafe", JS, CALL_SQL },
	{ "$queryRawUnsafe", JS, CALL_SQL },
	{ "ARGV", PERL, CALL_READS },
	{ "AppendAllText", OTHER, CALL_WRITE },
	{ "Chmod", OTHER, CALL_CHMOD, "os" },
	{ "Chown", OTHER, CALL_WRITE, "os" },
	{ "Command", JS | OTHER, CALL_SHELL },
	{ "CommandContext", OTHER, CALL_SHELL },
	{ "Create", OTHER, CALL_WRITE, "os" },
	{ "Delete", OTHER, CALL_REMOVE, "Directory File" },
	{ "Dir", RUBY, CALL_GLOB },
	{ "EVAL", OTHER, CALL_CODE },
	{ "Exec", OTHER, CALL_SHELL },
	{ "File", OTHER, CALL_PATH },
	{ "FileHandler", PY, CALL_WRITE },
	{ "FileIO", PY, CALL_OPEN },
	{ "FileInput", PY, CALL_READS },
	{ "FileInputStream", OTHER, CALL_READ },
	{ "FileOutputStream", OTHER, CALL_WRITE },
	{ "FileReader", OTHER, CALL_READ },
	{ "FileWriter", OTHER, CALL_WRITE },
	{ "Function", JS, CALL_CODE },
	{ "Link", OTHER, CALL_ALIAS, "os" },
	{ "MkdirAll", OTHER, CALL_WRITE },
	{ "Move", OTHER, CALL_RENAME, "File Directory" },
	{ "Open", OTHER, CALL_READ, "os" },
	{ "OpenFile", OTHER, CALL_OPEN },
	{ "Path", PY, CALL_READ },
	{ "Pathname", RUBY, CALL_READ },
	{ "Popen", PY, CALL_SHELL },
	{ "PrintWriter", OTHER, CALL_WRITE },
	{ "Process", PHP, CALL_SHELL },
	{ "Process", OTHER, CALL_SHELL },
	{ "ProcessBuilder", OTHER, CALL_SHELL },
	{ "ReadAllText", OTHER, CALL_READ },
	{ "ReadFile", OTHER, CALL_READ },
	{ "RecursiveDirectoryIterator", PHP, CALL_WALK },
	{ "Remove", OTHER, CALL_DELETE, "os" },
	{ "RemoveAll", OTHER, CALL_REMOVE },
	{ "Rename", OTHER, CALL_RENAME, "os" },
	{ "Request", PY | JS, CALL_URL },
	{ "RotatingFileHandler", PY, CALL_WRITE },
	{ "Run", OTHER, CALL_SHELL, "*" },
	{ "RunProcess", OTHER, CALL_SHELL },
	{ "Script", JS, CALL_CODE },
	{ "SourceFileLoader", PY, CALL_LOAD },
	{ "SplFileObject", PHP, CALL_OPEN },
	{ "Start", OTHER, CALL_SHELL, "Process" },
	{ "StartProcess", OTHER, CALL_SHELL },
	{ "Symlink", OTHER, CALL_LINK, "os" },
	{ "TimedRotatingFileHandler", PY, CALL_WRITE },
	{ "Truncate", OTHER, CALL_WRITE, "os" },
	{ "URL", JS, CALL_URL },
	{ "WatchedFileHandler", PY, CALL_WRITE },
	{ "Worker", JS, CALL_CODE },
	{ "WriteAllLines", OTHER, CALL_WRITE },
	{ "WriteAllText", OTHER, CALL_WRITE },
	{ "WriteFile", OTHER, CALL_WRITE },
	{ "ZipFile", PY, CALL_OPEN },
	{ "add", PY, CALL_READ, "t tf tar tarball archive" },
	{ "add", PY, CALL_READ, "%" },
	{ "append", OTHER, CALL_WRITES, "file" },
	{ "append-to-file", OTHER, CALL_WRITES },
	{ "appendFile", JS, CALL_WRITE },
	{ "appendFile", OTHER, CALL_WRITE },
	{ "appendFileSync", JS, CALL_WRITE },
	{ "append_file", PERL, CALL_WRITE },
	{ "async_exec", RUBY, CALL_SQL },
	{ "basicConfig", PY, CALL_WRITES },
	{ "binread", RUBY, CALL_READ },
	{ "binwrite", RUBY, CALL_WRITE },
	{ "call", PY, CALL_SHELL },
	{ "call-process", OTHER, CALL_SHELL },
	{ "call-process-shell-command", OTHER, CALL_SHELL },
	{ "call-with-input-file", OTHER, CALL_READ },
	{ "call-with-output-file", OTHER, CALL_WRITE },
	{ "callCommand", OTHER, CALL_SHELL },
	{ "callProcess", OTHER, CALL_SHELL },
	{ "capture2", RUBY, CALL_SHELL },
	{ "capture2e", RUBY, CALL_SHELL },
	{ "capture3", RUBY, CALL_SHELL },
	{ "capturex", PERL, CALL_SHELL },
	{ "chdir", ALL, CALL_CHDIR },
	{ "check_call", PY, CALL_SHELL },
	{ "check_output", PY, CALL_SHELL },
	{ "chgrp", PHP, CALL_WRITE },
	{ "children", RUBY, CALL_WALK },
	{ "chmod", ALL, CALL_CHMOD },
	{ "chmodSync", JS, CALL_CHMOD },
	{ "chmod_R", RUBY, CALL_CHMOD },
	{ "chown", PY | JS | PHP | LUA | OTHER, CALL_WRITE },
	{ "chown", RUBY | PERL, CALL_WRITES },
	{ "chownSync", JS, CALL_WRITE },
	{ "chown_R", RUBY, CALL_WRITES },
	{ "class_eval", RUBY, CALL_CODE },
	{ "cleanDirectory", OTHER, CALL_REMOVE },
	{ "cmd", OTHER, CALL_SHELL, "*" },
	{ "command", OTHER, CALL_SHELL, "*" },
	{ "command", JS, CALL_SHELL, "execa" },
	{ "commandLine", OTHER, CALL_SHELL },
	{ "commandSync", JS, CALL_SHELL, "execa" },
	{ "compile", PY, CALL_CODE, "+builtins" },
	{ "connect", PY, CALL_READ, "sqlite3" },
	{ "contentsOfFile", OTHER, CALL_READ },
	{ "copy", PY | PERL | PHP, CALL_COPY },
	{ "copy", RUBY, CALL_COPY, "FileUtils" },
	{ "copy", JS, CALL_COPY, "+fs fse extra" },
	{ "copy", OTHER, CALL_COPY, "+file File Files" },
	{ "copy", OTHER, CALL_COPY, "fs" },
	{ "copy-file", OTHER, CALL_COPY },
	{ "copy2", PY, CALL_COPY },
	{ "copyFile", JS, CALL_COPY },
	{ "copyFile", OTHER, CALL_COPY },
	{ "copyFileSync", JS, CALL_COPY },
	{ "copyItem", OTHER, CALL_COPY },
	{ "copySync", JS, CALL_COPY },
	{ "copy_entry", RUBY, CALL_COPY },
	{ "copy_file", RUBY, CALL_COPY },
	{ "copy_file", PY, CALL_COPY },
	{ "copy_stream", RUBY, CALL_COPY },
	{ "copy_tree", PY, CALL_COPY },
	{ "copyfile", PY, CALL_COPY },
	{ "copyfileobj", PY, CALL_READS },
	{ "copytree", PY, CALL_COPY },
	{ "cp", RUBY, CALL_COPY },
	{ "cp", PERL, CALL_COPY },
	{ "cp", JS, CALL_COPY, "+fs fsp promises" },
	{ "cp", OTHER, CALL_COPY, "+File" },
	{ "cpSync", JS, CALL_COPY },
	{ "cp_r", RUBY, CALL_COPY },
	{ "cp_r", OTHER, CALL_COPY, "+File" },
	{ "create", OTHER, CALL_WRITE, "file dir" },
	{ "create", OTHER, CALL_WRITE, "File" },
	{ "create", JS, CALL_WRITE, "Deno" },
	{ "createDirectories", OTHER, CALL_WRITE },
	{ "createDirectory", OTHER, CALL_WRITE },
	{ "createFile", OTHER, CALL_WRITE },
	{ "createReadStream", JS, CALL_READ },
	{ "createSync", JS, CALL_WRITE, "Deno" },
	{ "createWriteStream", JS, CALL_WRITE },
	{ "create_dir_all", OTHER, CALL_WRITE },
	{ "create_function", PHP, CALL_CODE },
	{ "create_subprocess_exec", PY, CALL_SHELL },
	{ "create_subprocess_shell", PY, CALL_SHELL },
	{ "csv", OTHER, CALL_READ, "read" },
	{ "csv", OTHER, CALL_WRITES, "write" },
	{ "csv2", OTHER, CALL_READ, "read" },
	{ "curl_download", OTHER, CALL_FETCH },
	{ "curl_init", PHP, CALL_URL },
	{ "curl_setopt", PHP, CALL_URL },
	{ "del", JS, CALL_REMOVE },
	{ "del_dir_r", OTHER, CALL_REMOVE },
	{ "delete", RUBY, CALL_DELETE },
	{ "delete", OTHER, CALL_DELETE, "+File Files" },
	{ "delete-directory", OTHER, CALL_REMOVE },
	{ "delete-directory-tree", OTHER, CALL_REMOVE },
	{ "delete-directory/files", OTHER, CALL_REMOVE },
	{ "delete-file", OTHER, CALL_DELETE },
	{ "delete-file-recursively", OTHER, CALL_REMOVE },
	{ "delete-if-exists", OTHER, CALL_DELETE },
	{ "delete-tree", OTHER, CALL_REMOVE },
	{ "deleteAsync", JS, CALL_REMOVE },
	{ "deleteDir", OTHER, CALL_REMOVE },
	{ "deleteDirectory", OTHER, CALL_REMOVE },
	{ "deleteFileAbsolute", OTHER, CALL_DELETE },
	{ "deleteIfExists", OTHER, CALL_DELETE, "Files" },
	{ "deleteRecursively", OTHER, CALL_REMOVE },
	{ "deleteSync", JS, CALL_REMOVE },
	{ "deleteTree", OTHER, CALL_REMOVE },
	{ "deleteTreeAbsolute", OTHER, CALL_REMOVE },
	{ "delim", OTHER, CALL_READ, "read" },
	{ "dir_delete", OTHER, CALL_REMOVE },
	{ "dircopy", PERL, CALL_COPY },
	{ "do", PERL, CALL_SQL },
	{ "doShellScript", OTHER, CALL_SHELL },
	{ "dofile", LUA, CALL_LOAD },
	{ "dotenv_values", PY, CALL_READ },
	{ "download", PY, CALL_FETCH, "wget gdown" },
	{ "download", OTHER, CALL_FETCH },
	{ "dump", PY, CALL_WRITES, "joblib" },
	{ "each_child", RUBY, CALL_WALK },
	{ "eachline", OTHER, CALL_READ },
	{ "emptyDir", JS, CALL_REMOVE },
	{ "emptyDirSync", JS, CALL_REMOVE },
	{ "ensureDir", JS, CALL_WRITE },
	{ "ensureDirSync", JS, CALL_WRITE },
	{ "ensureFile", JS, CALL_WRITE },
	{ "ensureFileSync", JS, CALL_WRITE },
	{ "eshell-command", OTHER, CALL_SHELL },
	{ "eval", PY | PERL | RUBY | JS | PHP, CALL_CODE },
	{ "eval", OTHER, CALL_CODE },
	{ "eval-string", OTHER, CALL_CODE },
	{ "eval_string", OTHER, CALL_CODE },
	{ "evalc", OTHER, CALL_CODE },
	{ "evalin", OTHER, CALL_CODE },
	{ "evaluate", OTHER, CALL_CODE },
	{ "exec", PERL | RUBY | JS | PHP | OTHER, CALL_SHELL },
	{ "exec", PY, CALL_CODE },
	{ "execCmd", OTHER, CALL_SHELL },
	{ "execCmdEx", OTHER, CALL_SHELL },
	{ "execFile", JS, CALL_SHELL },
	{ "execFileSync", JS, CALL_SHELL },
	{ "execProcess", OTHER, CALL_SHELL },
	{ "execShellCmd", OTHER, CALL_SHELL },
	{ "execSync", JS, CALL_SHELL },
	{ "exec_command", PY, CALL_SHELL },
	{ "exec_params", RUBY, CALL_SQL },
	{ "exec_run", PY, CALL_SHELL },
	{ "execa", JS, CALL_SHELL },
	{ "execaCommand", JS, CALL_SHELL },
	{ "execaCommandSync", JS, CALL_SHELL },
	{ "execaSync", JS, CALL_SHELL },
	{ "execfile", PY, CALL_LOAD },
	{ "execl", PY, CALL_SHELL },
	{ "execl", PERL, CALL_SHELL, "+POSIX" },
	{ "execl", OTHER, CALL_SHELL },
	{ "execle", PY, CALL_SHELL },
	{ "execle", OTHER, CALL_SHELL },
	{ "execlp", PY, CALL_SHELL },
	{ "execlp", PERL, CALL_SHELL, "+POSIX" },
	{ "execlp", OTHER, CALL_SHELL },
	{ "execlpe", PY, CALL_SHELL },
	{ "execute", LUA, CALL_SHELL },
	{ "execute", OTHER, CALL_SHELL, "+os process" },
	{ "execute", RUBY | JS | PHP, CALL_SQL },
	{ "execute", PY, CALL_SQL },
	{ "executeShell", OTHER, CALL_SHELL },
	{ "executemany", PY, CALL_SQL },
	{ "executescript", PY, CALL_SQL },
	{ "execv", PY, CALL_SHELL },
	{ "execv", PERL, CALL_SHELL, "+POSIX" },
	{ "execv", OTHER, CALL_SHELL },
	{ "execve", PY, CALL_SHELL },
	{ "execve", PERL, CALL_SHELL, "+POSIX" },
	{ "execve", OTHER, CALL_SHELL },
	{ "execvp", PY, CALL_SHELL },
	{ "execvp", PERL, CALL_SHELL, "+POSIX" },
	{ "execvp", OTHER, CALL_SHELL },
	{ "execvpe", PY, CALL_SHELL },
	{ "execvpe", OTHER, CALL_SHELL },
	{ "expand_path", RUBY, CALL_READ },
	{ "expanduser", PY, CALL_READ },
	{ "extractAllTo", JS, CALL_WRITE },
	{ "extractTo", PHP, CALL_WRITE },
	{ "extractall", PY, CALL_WRITE },
	{ "fchmod", PY | JS, CALL_CHMOD },
	{ "fchmodSync", JS, CALL_CHMOD },
	{ "fcopy", PERL, CALL_COPY },
	{ "fetch", JS, CALL_URL },
	{ "file", PHP, CALL_READ },
	{ "file", OTHER, CALL_FETCH, "download" },
	{ "file", OTHER, CALL_OPEN, "+base" },
	{ "file", JS, CALL_PATH, "+Bun" },
	{ "file-", OTHER, CALL_READ }, /* file->string */
	{ "file_delete", OTHER, CALL_DELETE },
	{ "file_get_contents", PHP, CALL_READ },
	{ "file_put_contents", PHP, CALL_WRITE },
	{ "fileread", OTHER, CALL_READ },
	{ "find", PERL | RUBY, CALL_WALK },
	{ "finddepth", PERL, CALL_WALK },
	{ "fopen", PHP, CALL_OPEN },
	{ "fopen", OTHER, CALL_OPEN },
	{ "forceDelete", OTHER, CALL_REMOVE },
	{ "foreach", RUBY, CALL_READ },
	{ "fread", OTHER, CALL_READ },
	{ "freopen", OTHER, CALL_OPEN },
	{ "fromFile", OTHER, CALL_READ, "+Source" },
	{ "fromShellCommandline", PHP, CALL_SHELL },
	{ "fromfile", PY, CALL_READ },
	{ "fwalk", PY, CALL_WALK },
	{ "fwrite", OTHER, CALL_WRITES },
	{ "genfromtxt", PY, CALL_READ },
	{ "get", OTHER, CALL_PATH, "Paths" },
	{ "get_data", PY, CALL_READ, "pkgutil" },
	{ "getline", PY, CALL_READ, "+linecache" },
	{ "getlines", PY, CALL_READ },
	{ "getoutput", PY, CALL_SHELL },
	{ "getstatusoutput", PY, CALL_SHELL },
	{ "getstore", PERL, CALL_FETCH },
	{ "ggsave", OTHER, CALL_WRITE },
	{ "glob", PY | PERL | RUBY | JS | PHP, CALL_GLOB },
	{ "globSync", JS, CALL_GLOB },
	{ "gzfile", PHP, CALL_READ },
	{ "gzfile", OTHER, CALL_OPEN },
	{ "gzopen", PHP, CALL_OPEN },
	{ "hard_link", OTHER, CALL_ALIAS },
	{ "highlight_file", PHP, CALL_READ },
	{ "ifstream", OTHER, CALL_READ },
	{ "iglob", PY, CALL_GLOB },
	{ "imread", PY, CALL_READ },
	{ "imsave", PY, CALL_WRITE },
	{ "imwrite", PY, CALL_WRITE },
	{ "include", PHP | OTHER, CALL_LOAD },
	{ "include_once", PHP, CALL_LOAD },
	{ "include_string", OTHER, CALL_CODE },
	{ "input", PY, CALL_READS, "fileinput FileInput" },
	{ "input", LUA, CALL_READ, "io" },
	{ "insert-file-contents", OTHER, CALL_READ },
	{ "install", RUBY, CALL_COPY, "FileUtils" },
	{ "instance_eval", RUBY, CALL_CODE },
	{ "lchmod", PY | JS | RUBY, CALL_CHMOD },
	{ "lchown", PY | JS | PHP, CALL_WRITE },
	{ "lchownSync", JS, CALL_WRITE },
	{ "lines", LUA, CALL_READ },
	{ "link", PY | PERL | RUBY | PHP, CALL_ALIAS },
	{ "linkSync", JS, CALL_ALIAS },
	{ "listdir", PY, CALL_WALK },
	{ "ln", RUBY, CALL_ALIAS },
	{ "ln_s", RUBY, CALL_LINK },
	{ "ln_sf", RUBY, CALL_LINK },
	{ "load", LUA, CALL_CODE },
	{ "load", PY, CALL_READ },
	{ "load", RUBY, CALL_LOAD },
	{ "load", OTHER, CALL_LOAD },
	{ "load-file", OTHER, CALL_LOAD },
	{ "load-string", OTHER, CALL_CODE },
	{ "load_file", RUBY, CALL_READ },
	{ "loadfile", LUA, CALL_LOAD },
	{ "loadstring", LUA, CALL_CODE },
	{ "loadtxt", PY, CALL_READ },
	{ "local", PY, CALL_SHELL, "fabric" },
	{ "make_archive", PY, CALL_READS },
	{ "make_path", PERL, CALL_WRITE },
	{ "makedirs", PY, CALL_WRITE },
	{ "makedirs", RUBY, CALL_WRITE },
	{ "me", OTHER, CALL_CODE, "Eval" },
	{ "memmap", PY, CALL_OPEN },
	{ "mirror", PERL, CALL_FETCH },
	{ "mkdir", ALL, CALL_WRITE },
	{ "mkdirSync", JS, CALL_WRITE },
	{ "mkdir_p", RUBY | OTHER, CALL_WRITE },
	{ "mkdtempSync", JS, CALL_WRITE },
	{ "mkfifo", PY | PERL | RUBY, CALL_WRITE },
	{ "mknod", PY, CALL_WRITE },
	{ "mkpath", PERL | OTHER, CALL_WRITE },
	{ "mkpath", RUBY, CALL_WRITE },
	{ "module_eval", RUBY, CALL_CODE },
	{ "move", PY | PERL, CALL_RENAME },
	{ "move", RUBY, CALL_RENAME, "FileUtils" },
	{ "move", JS, CALL_RENAME, "+fs fse extra" },
	{ "move", OTHER, CALL_RENAME, "Files" },
	{ "moveItem", OTHER, CALL_RENAME },
	{ "moveSync", JS, CALL_RENAME },
	{ "mv", RUBY, CALL_RENAME },
	{ "mv", PERL, CALL_RENAME },
	{ "mv", OTHER, CALL_RENAME, "+File" },
	{ "mysqli_query", PHP, CALL_SQL },
	{ "netrc", PY, CALL_READ },
	{ "new", PERL | RUBY, CALL_OPEN, "File" },
	{ "of", OTHER, CALL_PATH, "Path" },
	{ "ofstream", OTHER, CALL_WRITE },
	{ "open", ALL, CALL_OPEN },
	{ "open-input-file", OTHER, CALL_READ },
	{ "open-input-string", OTHER, CALL_CODE },
	{ "open-output-file", OTHER, CALL_WRITE },
	{ "open2", PERL, CALL_SHELL },
	{ "open3", PERL, CALL_SHELL },
	{ "openSync", JS, CALL_OPEN },
	{ "opendir", ALL, CALL_WALK },
	{ "output", LUA, CALL_WRITE, "io" },
	{ "outputFile", JS, CALL_WRITE },
	{ "outputFileSync", JS, CALL_WRITE },
	{ "outputJson", JS, CALL_WRITE },
	{ "outputJsonSync", JS, CALL_WRITE },
	{ "parse", PY, CALL_READ, "ET ElementTree etree minidom" },
	{ "parse", OTHER, CALL_CODE },
	{ "parse_ini_file", PHP, CALL_READ },
	{ "passthru", PHP, CALL_SHELL },
	{ "path", PERL, CALL_PATH },
	{ "pcntl_exec", PHP, CALL_SHELL },
	{ "pg_query", PHP, CALL_SQL },
	{ "pipeline", RUBY | OTHER, CALL_PIPE },
	{ "pipeline_r", RUBY, CALL_PIPE },
	{ "pipeline_rw", RUBY, CALL_PIPE },
	{ "pipeline_start", RUBY, CALL_PIPE },
	{ "pipeline_w", RUBY, CALL_PIPE },
	{ "popen", ALL, CALL_SHELL },
	{ "popen2", RUBY, CALL_SHELL },
	{ "popen2e", RUBY, CALL_SHELL },
	{ "popen3", RUBY, CALL_SHELL },
	{ "posix_spawn", PY, CALL_SHELL },
	{ "posix_spawnp", PY, CALL_SHELL },
	{ "prepare", PERL | JS | PHP, CALL_SQL },
	{ "proc", OTHER, CALL_SHELL },
	{ "proc_open", PHP, CALL_SHELL },
	{ "process", OTHER, CALL_SHELL },
	{ "process-lines", OTHER, CALL_SHELL },
	{ "process-lines-handling-status", OTHER, CALL_SHELL },
	{ "put", PY, CALL_READ, "sftp" },
	{ "query", RUBY | JS | PHP, CALL_SQL },
	{ "raw", JS, CALL_SQL },
	{ "rawSystem", OTHER, CALL_SHELL },
	{ "rcopy", PERL, CALL_COPY },
	{ "read", RUBY, CALL_READ },
	{ "read", PY, CALL_READS },
	{ "read", OTHER, CALL_READ, "+File Files IO" },
	{ "read-from-string", OTHER, CALL_CODE },
	{ "read-string", OTHER, CALL_CODE },
	{ "readAllBytes", OTHER, CALL_READ },
	{ "readAllLines", OTHER, CALL_READ },
	{ "readFile", JS, CALL_READ },
	{ "readFile", OTHER, CALL_READ },
	{ "readFileSync", JS, CALL_READ },
	{ "readJson", JS, CALL_READ },
	{ "readJsonSync", JS, CALL_READ },
	{ "readLines", OTHER, CALL_READ },
	{ "readProcess", OTHER, CALL_SHELL },
	{ "readRDS", OTHER, CALL_READ },
	{ "readRenviron", OTHER, CALL_READ },
	{ "readString", OTHER, CALL_READ },
	{ "readTextFile", JS, CALL_READ },
	{ "readTextFileSync", JS, CALL_READ },
	{ "read_csv", PY, CALL_READ },
	{ "read_csv", OTHER, CALL_READ },
	{ "read_excel", PY, CALL_READ },
	{ "read_feather", PY, CALL_READ },
	{ "read_file", PY, CALL_READ },
	{ "read_file", PERL, CALL_READ },
	{ "read_file", OTHER, CALL_READ },
	{ "read_fwf", PY, CALL_READ },
	{ "read_hdf", PY, CALL_READ },
	{ "read_html", PY, CALL_READ },
	{ "read_json", PY, CALL_READ },
	{ "read_lines", PERL, CALL_READ },
	{ "read_lines", OTHER, CALL_READ },
	{ "read_ndjson", PY, CALL_READ },
	{ "read_orc", PY, CALL_READ },
	{ "read_parquet", PY, CALL_READ },
	{ "read_pickle", PY, CALL_READ },
	{ "read_sas", PY, CALL_READ },
	{ "read_spss", PY, CALL_READ },
	{ "read_stata", PY, CALL_READ },
	{ "read_table", PY, CALL_READ },
	{ "read_text", PERL, CALL_READ },
	{ "read_to_string", OTHER, CALL_READ, "fs" },
	{ "read_tsv", OTHER, CALL_READ },
	{ "read_xml", PY, CALL_READ },
	{ "readdir", JS, CALL_WALK },
	{ "readdirSync", JS, CALL_WALK },
	{ "readfile", PHP, CALL_READ },
	{ "readfile", OTHER, CALL_READ },
	{ "readgzfile", PHP, CALL_READ },
	{ "readline", OTHER, CALL_READ },
	{ "readlines", RUBY, CALL_READ },
	{ "readlines", OTHER, CALL_READ },
	{ "readpipe", PERL, CALL_SHELL },
	{ "remove", PY | JS | LUA, CALL_DELETE },
	{ "remove", RUBY, CALL_DELETE, "FileUtils" },
	{ "remove", OTHER, CALL_DELETE, "+file File os" },
	{ "removeDir", OTHER, CALL_REMOVE },
	{ "removeDirectoryRecursive", OTHER, CALL_REMOVE },
	{ "removeFile", OTHER, CALL_DELETE },
	{ "removeItem", OTHER, CALL_REMOVE },
	{ "removePathForcibly", OTHER, CALL_REMOVE },
	{ "removeSync", JS, CALL_REMOVE },
	{ "removeSync", JS, CALL_REMOVE, "Deno" },
	{ "remove_all", OTHER, CALL_REMOVE },
	{ "remove_dir", RUBY, CALL_REMOVE },
	{ "remove_dir", OTHER, CALL_DELETE },
	{ "remove_dir_all", OTHER, CALL_REMOVE },
	{ "remove_entry", RUBY, CALL_REMOVE },
	{ "remove_entry_secure", RUBY, CALL_REMOVE },
	{ "remove_file", RUBY, CALL_DELETE },
	{ "remove_file", OTHER, CALL_DELETE },
	{ "remove_tree", PERL, CALL_REMOVE },
	{ "remove_tree", PY, CALL_REMOVE },
	{ "removedirs", PY, CALL_REMOVE },
	{ "rename", ALL, CALL_RENAME },
	{ "rename-file", OTHER, CALL_RENAME },
	{ "renameFile", OTHER, CALL_RENAME },
	{ "renameSync", JS, CALL_RENAME },
	{ "renames", PY, CALL_RENAME },
	{ "replace", PY, CALL_RENAME, "+os" },
	{ "replace", PY, CALL_RENAME, ALONE },
	{ "require", RUBY | PERL | PHP, CALL_LOAD },
	{ "require_once", PHP, CALL_LOAD },
	{ "require_relative", RUBY, CALL_LOAD },
	{ "rimraf", JS, CALL_REMOVE },
	{ "rm", JS | OTHER, CALL_REMOVE },
	{ "rm", RUBY, CALL_DELETE },
	{ "rmSync", JS, CALL_REMOVE },
	{ "rm_f", RUBY, CALL_DELETE },
	{ "rm_r", RUBY, CALL_REMOVE },
	{ "rm_rf", RUBY | OTHER, CALL_REMOVE },
	{ "rmdir", ALL, CALL_DELETE },
	{ "rmdirRecurse", OTHER, CALL_REMOVE },
	{ "rmdirSync", JS, CALL_REMOVE },
	{ "rmdir_all", OTHER, CALL_REMOVE },
	{ "rmtree", PY | PERL | RUBY, CALL_REMOVE },
	{ "run", PY | PERL | OTHER, CALL_SHELL },
	{ "run", JS, CALL_SQL },
	{ "run-program", OTHER, CALL_SHELL },
	{ "run-shell-command", OTHER, CALL_SHELL },
	{ "run3", PERL, CALL_SHELL },
	{ "runInContext", JS, CALL_CODE },
	{ "runInNewContext", JS, CALL_CODE },
	{ "runInThisContext", JS, CALL_CODE },
	{ "runSync", OTHER, CALL_SHELL },
	{ "run_cell", PY, CALL_CODE },
	{ "run_command", OTHER, CALL_SHELL },
	{ "run_path", PY, CALL_LOAD },
	{ "runcode", PY, CALL_CODE },
	{ "runsource", PY, CALL_CODE },
	{ "safe_unlink", RUBY, CALL_DELETE },
	{ "save", PY, CALL_WRITE },
	{ "saveRDS", OTHER, CALL_WRITES },
	{ "savefig", PY, CALL_WRITE },
	{ "savetxt", PY, CALL_WRITE },
	{ "savez", PY, CALL_WRITE },
	{ "savez_compressed", PY, CALL_WRITE },
	{ "scan", OTHER, CALL_READ },
	{ "scan_csv", PY, CALL_READ },
	{ "scan_ndjson", PY, CALL_READ },
	{ "scan_parquet", PY, CALL_READ },
	{ "scandir", PY, CALL_WALK },
	{ "scandir", PHP, CALL_WALK },
	{ "script", OTHER, CALL_SHELL },
	{ "send2trash", PY, CALL_REMOVE },
	{ "sh", RUBY | OTHER, CALL_SHELL },
	{ "shell", PERL | OTHER, CALL_SHELL },
	{ "shell_exec", PHP, CALL_SHELL },
	{ "show_source", PHP, CALL_READ },
	{ "simplexml_load_file", PHP, CALL_READ },
	{ "sink", OTHER, CALL_WRITE },
	{ "slurp", PERL | OTHER, CALL_READ },
	{ "source", OTHER, CALL_LOAD },
	{ "spawn", PY | RUBY | JS | OTHER, CALL_SHELL },
	{ "spawnProcess", OTHER, CALL_SHELL },
	{ "spawnShell", OTHER, CALL_SHELL },
	{ "spawnSync", JS, CALL_SHELL },
	{ "spawnl", PY, CALL_SHELL },
	{ "spawnle", PY, CALL_SHELL },
	{ "spawnlp", PY, CALL_SHELL },
	{ "spawnlpe", PY, CALL_SHELL },
	{ "spawnv", PY, CALL_SHELL },
	{ "spawnve", PY, CALL_SHELL },
	{ "spawnvp", PY, CALL_SHELL },
	{ "spawnvpe", PY, CALL_SHELL },
	{ "spec_from_file_location", PY, CALL_LOAD },
	{ "spit", OTHER, CALL_WRITE },
	{ "sql", PY, CALL_SQL },
	{ "str2expression", OTHER, CALL_CODE },
	{ "str2lang", OTHER, CALL_CODE },
	{ "string_to_quoted", OTHER, CALL_CODE },
	{ "symlink", ALL, CALL_LINK },
	{ "symlinkSync", JS, CALL_LINK },
	{ "sync", JS, CALL_REMOVE, "del rimraf" },
	{ "sync", JS, CALL_SHELL, "spawn crossSpawn" },
	{ "sync", JS, CALL_GLOB, "glob fg globby fastGlob" },
	{ "sys-system", OTHER, CALL_SHELL },
	{ "sysopen", PERL, CALL_OPEN },
	{ "system", ALL, CALL_SHELL },
	{ "system2", OTHER, CALL_SHELL },
	{ "system_output", OTHER, CALL_SHELL },
	{ "systemx", PERL, CALL_SHELL },
	{ "table", OTHER, CALL_READ, "read" },
	{ "table", OTHER, CALL_WRITES, "write" },
	{ "term_to_atom", OTHER, CALL_CODE },
	{ "text", PY, CALL_SQL },
	{ "textConnection", OTHER, CALL_CODE },
	{ "timeit", PY, CALL_CODE },
	{ "toFile", OTHER, CALL_WRITE },
	{ "to_csv", PY, CALL_WRITE },
	{ "to_excel", PY, CALL_WRITE },
	{ "to_feather", PY, CALL_WRITE },
	{ "to_file", PY, CALL_WRITE },
	{ "to_hdf", PY, CALL_WRITE },
	{ "to_html", PY, CALL_WRITE },
	{ "to_json", PY, CALL_WRITE },
	{ "to_latex", PY, CALL_WRITE },
	{ "to_markdown", PY, CALL_WRITE },
	{ "to_orc", PY, CALL_WRITE },
	{ "to_parquet", PY, CALL_WRITE },
	{ "to_pickle", PY, CALL_WRITE },
	{ "to_stata", PY, CALL_WRITE },
	{ "to_xml", PY, CALL_WRITE },
	{ "tofile", PY, CALL_WRITE },
	{ "touch", RUBY, CALL_WRITE },
	{ "touch", PHP | OTHER, CALL_WRITE },
	{ "trash", JS, CALL_REMOVE },
	{ "truncate", ALL, CALL_WRITE },
	{ "truncateSync", JS, CALL_WRITE },
	{ "unlink", ALL, CALL_DELETE },
	{ "unlinkSync", JS, CALL_DELETE },
	{ "unpack_archive", PY, CALL_COPY },
	{ "upload_file", PY, CALL_READ },
	{ "upload_from_filename", PY, CALL_READ },
	{ "url-copy-file", OTHER, CALL_FETCH },
	{ "urlopen", PY, CALL_URL },
	{ "urlretrieve", PY, CALL_FETCH },
	{ "utime", PERL, CALL_WRITES },
	{ "walk", PY, CALL_WALK },
	{ "with-input-from-file", OTHER, CALL_READ },
	{ "with-output-to-file", OTHER, CALL_WRITE },
	{ "with-temp-file", OTHER, CALL_WRITE },
	{ "write", RUBY, CALL_WRITE },
	{ "write", PY, CALL_READ, "z zf zip zipf archive" },
	{ "write", PY, CALL_READ, "%" },
	{ "write", JS, CALL_WRITE, "Bun" },
	{ "write", OTHER, CALL_WRITE, "+File Files" },
	{ "write", OTHER, CALL_WRITE, "fs" },
	{ "write-file", OTHER, CALL_WRITE },
	{ "write-region", OTHER, CALL_WRITES },
	{ "writeFile", JS, CALL_WRITE },
	{ "writeFile", OTHER, CALL_WRITE },
	{ "writeFileSync", JS, CALL_WRITE },
	{ "writeJson", JS, CALL_WRITE },
	{ "writeJsonSync", JS, CALL_WRITE },
	{ "writeLines", OTHER, CALL_WRITES },
	{ "writeString", OTHER, CALL_WRITE },
	{ "writeTextFile", JS, CALL_WRITE },
	{ "writeTextFileSync", JS, CALL_WRITE },
	{ "write_csv", PY, CALL_WRITE },
	{ "write_csv", OTHER, CALL_WRITES },
	{ "write_disk", OTHER, CALL_WRITE },
	{ "write_file", PERL, CALL_WRITE },
	{ "write_html", PY, CALL_WRITE },
	{ "write_image", PY, CALL_WRITE },
	{ "write_json", PY, CALL_WRITE },
	{ "write_parquet", PY, CALL_WRITE },
	{ "write_text", PERL, CALL_WRITE },
	{ "writefile", OTHER, CALL_WRITES },
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

	if (*of == '*')
		return !ab_code_runs_nothing(k, t);
	/* of whatever, in a program that packs files */
	if (*of == '%')
		return last == '.' && k->modules & AB_MODULE_ARCHIVE;
	of += is_free;
	if (!*of)
		return last == '.' && is_alone(k, t);
	if (last == '.' || last == ':' ||
	    (last == '>' && at > 1 && k->text->text[at - 2] == '-'))
		return is_owner(k->text, at, of);
	return is_free && ab_code_next_byte(k->text, t->at + t->len) == '(';
}

/* As strcmp(3), of a name that has a length. */
static int compare(const char *name, const char *s, uint32_t len)
{
	size_t n = strlen(name);
	int order = *name - (len ? *s : 0);

	if (!order)
		order = memcmp(name, s, n < len ? n : len);
	return order ? order : n < len ? -1 : n > len;
}

/* The first row that has the name; or the number of all. */
static size_t first_row(const char *s, uint32_t len)
{
	size_t low = 0, high = AB_ARRAY_LEN(calls);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare(calls[middle].name, s, len) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < AB_ARRAY_LEN(calls) && !compare(calls[low].name, s, len)
		       ? low
		       : AB_ARRAY_LEN(calls);
}

static bool is_row(size_t i, const char *s, uint32_t len)
{
	return i < AB_ARRAY_LEN(calls) && !compare(calls[i].name, s, len);
}

static uint8_t find_call(const struct ab_code *k, const char *s, uint32_t len,
			 const struct ab_token *t)
{
	for (size_t i = first_row(s, len); is_row(i, s, len); i++) {
		if ((calls[i].langs & k->lang) &&
		    (!calls[i].of || (t && is_of(k, t, calls[i].of))))
			return calls[i].kind;
	}
	return AB_CALL_NONE;
}

bool ab_code_is_known(const struct ab_code *k, const struct ab_token *t)
{
	const char *s = k->text->text + t->at;

	for (size_t i = first_row(s, t->len); is_row(i, s, t->len); i++) {
		if (calls[i].langs & k->lang)
			return true;
	}
	return false;
}

const char *ab_code_call_name(size_t i)
{
	return i < AB_ARRAY_LEN(calls) ? calls[i].name : NULL;
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

