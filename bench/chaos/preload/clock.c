/*
 * The clocks of one process, moved: two numbers of nanoseconds in the file CHAOS_CLOCK, which another process may change at any time, are added to the clock of the day and to the one
 * that never goes back.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;

/* The wall clock's number, then the other one's. */
static volatile const int64_t *moved;

__attribute__((constructor)) static void begin(void) {
  const char *file = getenv("CHAOS_CLOCK");
  if (file == NULL) return;
  int fd = open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) abort();
  void *mapped = mmap(NULL, 2 * sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) abort();
  close(fd);
  moved = mapped;
}

static int64_t offset(clockid_t clock) {
  if (moved == NULL) return 0;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) return moved[0];
  if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME) return moved[1];
  return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result != 0) return result;
  int64_t all = now->tv_sec * second + now->tv_nsec + offset(clock);
  now->tv_sec = all / second;
  now->tv_nsec = all % second;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != NULL) *result = now.tv_sec;
  return now.tv_sec;
}
