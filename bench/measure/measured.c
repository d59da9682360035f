// `measured FD PROGRAM ARGUMENT…` runs a program and, when it has ended, writes what it cost to that descriptor as one line of
// JSON. It stands between the runner and the program because only a small parent sees the true numbers: the peak memory of a child
// starts at that of the process that forked it. CPU and peak memory include those children of the program that it waited for.

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
#endif

static double ms_of(struct timeval time) { return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3; }

int main(int count, char **words) {
  if (count < 3) return 2;
  int to = atoi(words[1]);
  struct timespec began, ended;
  clock_gettime(CLOCK_MONOTONIC, &began);
  pid_t child = fork();
  if (child < 0) return 2;
  if (child == 0) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a runner that is killed leaves no contestant behind
#endif
    close(to);
    execvp(words[2], words + 2);
    perror(words[2]);
    _exit(127);
  }
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  int status;
  struct rusage used;
  if (wait4(child, &status, 0, &used) < 0) return 2;
  clock_gettime(CLOCK_MONOTONIC, &ended);
  double wall_ms = (double)(ended.tv_sec - began.tv_sec) * 1e3 + (double)(ended.tv_nsec - began.tv_nsec) / 1e6;
#ifdef __APPLE__
  long peak_bytes = used.ru_maxrss;
#else
  long peak_bytes = used.ru_maxrss * 1024;
#endif
  dprintf(to, "{\"wallMs\":%.3f,\"userMs\":%.3f,\"systemMs\":%.3f,\"peakBytes\":%ld}\n", wall_ms, ms_of(used.ru_utime),
          ms_of(used.ru_stime), peak_bytes);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
