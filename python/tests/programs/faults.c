/* Preloaded: from the FAULT_FROM-th call on that writes below FAULT_UNDER, each one fails with the errno FAULT_WITH, as on a disk
   that is full, read-only or over its quota; with FAULT_CLOCK the time of day jumps by so many seconds instead. Calls are counted
   over all processes in the file FAULT_COUNT, one byte for each. cc -shared -fPIC -o faults.so faults.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Whether the call fails or, of a clock, has jumped. */
static int struck(int counts) {
    const char *count = getenv("FAULT_COUNT"), *from = getenv("FAULT_FROM");
    struct stat now;
    if (!count || !from) return 0;
    if (counts) {
        int file = (int)syscall(SYS_openat, AT_FDCWD, count, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (file >= 0) {
            syscall(SYS_write, file, "x", (size_t)1);
            syscall(SYS_close, file);
        }
    }
    return syscall(SYS_newfstatat, AT_FDCWD, count, &now, 0) == 0 && now.st_size >= atol(from);
}

static int fails(const char *path) {
    const char *under = getenv("FAULT_UNDER"), *with = getenv("FAULT_WITH");
    if (!under || !path || strncmp(path, under, strlen(under)) || !struck(1) || !with) return 0;
    errno = atoi(with);
    return 1;
}

static int file_fails(int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(path);
}

#define WRITES (O_WRONLY | O_RDWR | O_CREAT)
#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        return flags & WRITES && fails(path) ? -1 : NEXT(name)(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
int openat(int at, const char *path, int flags, ...) {
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more);
    return flags & WRITES && fails(path) ? -1 : NEXT(openat)(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
    va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more);
    return flags & WRITES && fails(path) ? -1 : NEXT(openat64)(at, path, flags, mode);
}
ssize_t write(int file, const void *data, size_t size) { return file_fails(file) ? -1 : NEXT(write)(file, data, size); }
ssize_t pwrite(int file, const void *data, size_t size, off_t at) { return file_fails(file) ? -1 : NEXT(pwrite)(file, data, size, at); }
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) { return file_fails(file) ? -1 : NEXT(pwrite64)(file, data, size, at); }
ssize_t writev(int file, const struct iovec *data, int count) { return file_fails(file) ? -1 : NEXT(writev)(file, data, count); }
int ftruncate64(int file, off64_t size) { return file_fails(file) ? -1 : NEXT(ftruncate64)(file, size); }
int fallocate(int file, int mode, off_t at, off_t size) { return file_fails(file) ? -1 : NEXT(fallocate)(file, mode, at, size); }
int rename(const char *from, const char *to) { return fails(to) ? -1 : NEXT(rename)(from, to); }
int mkdir(const char *path, mode_t mode) { return fails(path) ? -1 : NEXT(mkdir)(path, mode); }

static time_t jump(void) {
    const char *by = getenv("FAULT_CLOCK");
    return by && struck(0) ? (time_t)atol(by) : 0;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    int answer = NEXT(clock_gettime)(clock, now);
    if (!answer && clock == CLOCK_REALTIME) now->tv_sec += jump();
    return answer;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int answer = NEXT(gettimeofday)(now, zone);
    if (!answer) now->tv_sec += jump();
    return answer;
}
time_t time(time_t *now) {
    time_t answer = NEXT(time)(NULL) + jump();
    if (now) *now = answer;
    return answer;
}
