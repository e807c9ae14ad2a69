/*
 * Records in the file CHAOS_RECORD what a process does to the files in the folder CHAOS_ROOT, and what it syncs. From that, ../disk.ts makes what a power cut leaves of them.
 * With CHAOS_KILL_AT, the process is killed at the operation of that number; a write is cut in two then.
 * With CHAOS_LIES, nothing is synced, though the process is told that it was: a test sees by that whether missing syncs are noticed.
 *
 * What is done in other ways (files that are mapped, copied by the system, or truncated by it at once) is not seen. ../disk.ts notices: what was recorded is then not what is on the disk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* One operation, as it lies in the record; the text and the data follow. */
struct operation {
  /* W write, T truncate, S sync, C create a file, D create a folder, U remove a name, R rename, L link, K send, X what is not understood, N the operation before failed. */
  uint32_t kind;
  uint32_t text;
  uint64_t file;
  /* W: where · T: the size · S: how many operations had been recorded when it began. */
  uint64_t number;
  uint64_t data;
};

enum target { OTHER, REGULAR, FOLDER, SOCKET };

static char root[PATH_MAX];
static size_t root_length;
static int record_fd = -1;
static long kill_at;
static int lies;
static long done;
static uint64_t recorded;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("CHAOS_ROOT");
  const char *record = getenv("CHAOS_RECORD");
  const char *at = getenv("CHAOS_KILL_AT");
  if (folder == NULL || record == NULL) return;
  snprintf(root, sizeof root, "%s", folder);
  root_length = strlen(root);
  if (at != NULL) kill_at = atol(at);
  lies = getenv("CHAOS_LIES") != NULL;
  record_fd = (int)syscall(SYS_openat, AT_FDCWD, record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (record_fd < 0) abort();
}

static int inside(const char *path) {
  return record_fd >= 0 && strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

static int path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (length < 0) return -1;
  path[length] = 0;
  return 0;
}

/* Whether a name lies in the folder; `full` gets its whole path. */
static int named(int dirfd, const char *name, char *full) {
  if (record_fd < 0) return 0;
  if (name[0] == '/' || dirfd == AT_FDCWD) {
    snprintf(full, PATH_MAX, "%s", name);
    return inside(full);
  }
  if (path_of(dirfd, full) != 0) return 0;
  size_t length = strlen(full);
  snprintf(full + length, PATH_MAX - length, "/%s", name);
  return inside(full);
}

static enum target target_of(int fd, uint64_t *file) {
  struct stat found;
  if (record_fd < 0 || fstat(fd, &found) != 0) return OTHER;
  if (S_ISSOCK(found.st_mode)) return SOCKET;
  if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) return OTHER;
  char path[PATH_MAX];
  if (path_of(fd, path) != 0 || !inside(path)) return OTHER;
  *file = found.st_ino;
  return S_ISREG(found.st_mode) ? REGULAR : FOLDER;
}

/* To be called in turn. */
static void record(uint32_t kind, uint64_t file, uint64_t number, const char *text, const struct iovec *parts, int count) {
  struct operation operation = {kind, (uint32_t)strlen(text), file, number, 0};
  struct iovec all[1026];
  int used = 2;
  for (int each = 0; each < count && used < 1026; each++) {
    operation.data += parts[each].iov_len;
    all[used++] = parts[each];
  }
  all[0] = (struct iovec){&operation, sizeof operation};
  all[1] = (struct iovec){(void *)text, operation.text};
  ssize_t whole = (ssize_t)(sizeof operation + operation.text + operation.data);
  /* More parts than one call takes, or no room: the record would be wrong. */
  if (used > 1024 || syscall(SYS_writev, record_fd, all, used) != whole) abort();
  recorded++;
}

static void die(void) {
  syscall(SYS_kill, getpid(), SIGKILL);
  for (;;) pause();
}

static int is_due(void) {
  return ++done == kill_at;
}

static void take_turn(void) {
  pthread_mutex_lock(&turn);
}

static void give_turn(void) {
  int code = errno;
  pthread_mutex_unlock(&turn);
  errno = code;
}

/* An operation whose whole effect is known before it is done. */
static long told(long result) {
  if (result < 0) {
    int code = errno;
    record('N', 0, 0, "", NULL, 0);
    errno = code;
  }
  return result;
}

static void sends(void) {
  take_turn();
  if (is_due()) die();
  record('K', 0, 0, "", NULL, 0);
  give_turn();
}

static size_t length_of(const struct iovec *parts, int count) {
  size_t length = 0;
  for (int each = 0; each < count; each++) length += parts[each].iov_len;
  return length;
}

/* Writes to a file at a place; -1: where it stands. */
static ssize_t written(int fd, uint64_t file, const struct iovec *parts, int count, off_t place) {
  take_turn();
  off_t at = place;
  if (place < 0) {
    int flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
    at = syscall(SYS_lseek, fd, 0, (flags & O_APPEND) != 0 ? SEEK_END : SEEK_CUR);
  }
  if (is_due()) {
    struct iovec half = {parts[0].iov_base, parts[0].iov_len / 2};
    record('W', file, (uint64_t)at, "", &half, 1);
    syscall(SYS_pwrite64, fd, half.iov_base, half.iov_len, at);
    die();
  }
  record('W', file, (uint64_t)at, "", parts, count);
  ssize_t result = place < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, place, 0);
  /* A write that is cut short. */
  if (result >= 0 && (size_t)result < length_of(parts, count)) abort();
  told(result);
  give_turn();
  return result;
}

ssize_t write(int fd, const void *bytes, size_t length) {
  uint64_t file;
  enum target target = target_of(fd, &file);
  if (target == SOCKET) sends();
  if (target != REGULAR) return syscall(SYS_write, fd, bytes, length);
  struct iovec part = {(void *)bytes, length};
  return written(fd, file, &part, 1, -1);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  uint64_t file;
  enum target target = target_of(fd, &file);
  if (target == SOCKET) sends();
  return target == REGULAR ? written(fd, file, parts, count, -1) : syscall(SYS_writev, fd, parts, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t place) {
  uint64_t file;
  struct iovec part = {(void *)bytes, length};
  if (target_of(fd, &file) == REGULAR) return written(fd, file, &part, 1, place);
  return syscall(SYS_pwrite64, fd, bytes, length, place);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t place) {
  uint64_t file;
  if (target_of(fd, &file) == REGULAR) return written(fd, file, parts, count, place);
  return syscall(SYS_pwritev, fd, parts, count, place, 0);
}

int ftruncate64(int fd, off64_t size) {
  uint64_t file;
  if (target_of(fd, &file) != REGULAR) return (int)syscall(SYS_ftruncate, fd, size);
  take_turn();
  if (is_due()) die();
  record('T', file, (uint64_t)size, "", NULL, 0);
  long result = told(syscall(SYS_ftruncate, fd, size));
  give_turn();
  return (int)result;
}

/* Other operations go on meanwhile. It covers those that were recorded when it began. */
static int synced(int fd, long call) {
  uint64_t file;
  enum target target = target_of(fd, &file);
  if (target != REGULAR && target != FOLDER) return (int)syscall(call, fd);
  if (lies) return 0;
  take_turn();
  if (is_due()) die();
  uint64_t before = recorded;
  give_turn();
  int result = (int)syscall(call, fd);
  if (result != 0) return result;
  take_turn();
  record('S', file, before, "", NULL, 0);
  give_turn();
  return 0;
}

int fsync(int fd) {
  return synced(fd, SYS_fsync);
}

int fdatasync(int fd) {
  return synced(fd, SYS_fdatasync);
}

static int opened(int dirfd, const char *name, int flags, mode_t mode) {
  char full[PATH_MAX];
  if ((flags & (O_CREAT | O_TRUNC)) == 0 || !named(dirfd, name, full))
    return (int)syscall(SYS_openat, dirfd, name, flags, mode);
  take_turn();
  int is_there = syscall(SYS_faccessat, AT_FDCWD, full, F_OK) == 0;
  if ((!is_there || (flags & O_TRUNC) != 0) && is_due()) die();
  int fd = (int)syscall(SYS_openat, dirfd, name, flags, mode);
  int code = errno;
  struct stat found;
  if (fd >= 0 && fstat(fd, &found) == 0) {
    if (!is_there) record('C', found.st_ino, 0, full, NULL, 0);
    else if ((flags & O_TRUNC) != 0) record('T', found.st_ino, 0, "", NULL, 0);
  }
  errno = code;
  give_turn();
  return fd;
}

static mode_t mode_of(int flags, va_list more) {
  return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
}

#define OPENS(name)                                                    \
  int name(const char *path, int flags, ...) {                         \
    va_list more;                                                      \
    va_start(more, flags);                                             \
    mode_t mode = mode_of(flags, more);                                \
    va_end(more);                                                      \
    return opened(AT_FDCWD, path, flags, mode);                        \
  }
OPENS(open)
OPENS(open64)

#define OPENS_AT(name)                                                 \
  int name(int dirfd, const char *path, int flags, ...) {              \
    va_list more;                                                      \
    va_start(more, flags);                                             \
    mode_t mode = mode_of(flags, more);                                \
    va_end(more);                                                      \
    return opened(dirfd, path, flags, mode);                           \
  }
OPENS_AT(openat)
OPENS_AT(openat64)

/* Two paths are one text with a line's end in between. */
static int both(uint32_t kind, int one, const char *from, int other, const char *to, long call) {
  char text[2 * PATH_MAX + 1], old[PATH_MAX], new[PATH_MAX];
  int is_old = named(one, from, old), is_new = named(other, to, new);
  if (!is_old && !is_new) return (int)syscall(call, one, from, other, to, 0);
  take_turn();
  if (is_due()) die();
  snprintf(text, sizeof text, "%s\n%s", old, new);
  record(is_old && is_new ? kind : 'X', 0, 0, text, NULL, 0);
  long result = told(syscall(call, one, from, other, to, 0));
  give_turn();
  return (int)result;
}

int rename(const char *from, const char *to) {
  return both('R', AT_FDCWD, from, AT_FDCWD, to, SYS_renameat2);
}

int link(const char *from, const char *to) {
  return both('L', AT_FDCWD, from, AT_FDCWD, to, SYS_linkat);
}

int linkat(int one, const char *from, int other, const char *to, int flags) {
  (void)flags;
  return both('L', one, from, other, to, SYS_linkat);
}

static int removed(int dirfd, const char *name, int flags) {
  char full[PATH_MAX];
  if (!named(dirfd, name, full)) return (int)syscall(SYS_unlinkat, dirfd, name, flags);
  take_turn();
  if (is_due()) die();
  record('U', 0, 0, full, NULL, 0);
  long result = told(syscall(SYS_unlinkat, dirfd, name, flags));
  give_turn();
  return (int)result;
}

int unlink(const char *name) {
  return removed(AT_FDCWD, name, 0);
}

int unlinkat(int dirfd, const char *name, int flags) {
  return removed(dirfd, name, flags);
}

int rmdir(const char *name) {
  return removed(AT_FDCWD, name, AT_REMOVEDIR);
}

int remove(const char *name) {
  int result = removed(AT_FDCWD, name, 0);
  return result != 0 && (errno == EISDIR || errno == EPERM) ? removed(AT_FDCWD, name, AT_REMOVEDIR) : result;
}

int mkdirat(int dirfd, const char *name, mode_t mode) {
  char full[PATH_MAX];
  if (!named(dirfd, name, full)) return (int)syscall(SYS_mkdirat, dirfd, name, mode);
  take_turn();
  if (is_due()) die();
  int result = (int)syscall(SYS_mkdirat, dirfd, name, mode);
  int code = errno;
  struct stat found;
  if (result == 0 && stat(full, &found) == 0) record('D', found.st_ino, 0, full, NULL, 0);
  errno = code;
  give_turn();
  return result;
}

int mkdir(const char *name, mode_t mode) {
  return mkdirat(AT_FDCWD, name, mode);
}
