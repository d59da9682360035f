// A wide-area line in user space: it carries packets between the TUN devices of two network namespaces, with a rate, a
// drop-tail queue, a delay and random loss. Real TCP stacks thus meet a real bottleneck on any machine that has TUN.
//
//   forwarder NAMESPACE_A NAMESPACE_B SEED
//
// It prints "ready" once both devices (named "line") exist, and then reads commands from stdin, one on each line:
//   line DELAY_US BITS_PER_SECOND LOSS_PER_MILLION QUEUE_BYTES     sets the line, each way; packets on it are kept
// It ends when stdin does, so it never outlives whoever started it.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define LARGEST_PACKET 65536
#define SECOND 1000000000ull

typedef struct packet {
  struct packet *next;
  uint64_t at;  // in the queue: when it arrived; on the way: when it is due
  size_t length;
  unsigned char bytes[];
} packet;

typedef struct { packet *first, **last; } list;

typedef struct {
  int from, to;
  list queue, way;
  size_t queued_bytes;
  uint64_t free_at;  // when the transmitter is done with the previous packet
} direction;

typedef struct { uint64_t delay_ns, bits_per_second, loss_per_million, queue_bytes; } setting;

static setting now_set = {0, 1000000000, 0, 1 << 20};
static uint64_t chance_state;

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

// Marsaglia's xorshift64*. The same seed loses the same packets, in order of arrival.
static uint64_t chance(void) {
  chance_state ^= chance_state >> 12;
  chance_state ^= chance_state << 25;
  chance_state ^= chance_state >> 27;
  return chance_state * 0x2545f4914f6cdd1dull;
}

static void put(list *l, packet *p) {
  p->next = NULL;
  *l->last = p;
  l->last = &p->next;
}

static packet *take(list *l) {
  packet *p = l->first;
  l->first = p->next;
  if (!l->first) l->last = &l->first;
  return p;
}

static int open_device(const char *namespace) {
  char path[256];
  snprintf(path, sizeof path, "/var/run/netns/%s", namespace);
  int entry = open(path, O_RDONLY | O_CLOEXEC);
  if (entry < 0 || setns(entry, CLONE_NEWNET)) fail(path);
  close(entry);
  int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  struct ifreq request = {0};
  strcpy(request.ifr_name, "line");
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (device < 0 || ioctl(device, TUNSETIFF, &request)) fail("/dev/net/tun");
  return device;
}

// Reads what the near end sends. Drop-tail: a packet that does not fit into the queue is lost.
static void receive(direction *d) {
  static unsigned char buffer[LARGEST_PACKET];
  for (int i = 0; i < 512; i++) {
    ssize_t length = read(d->from, buffer, sizeof buffer);
    if (length <= 0) return;
    if (chance() % 1000000 < now_set.loss_per_million) continue;
    if (d->queued_bytes + (size_t)length > now_set.queue_bytes) continue;
    packet *p = malloc(sizeof *p + (size_t)length);
    if (!p) fail("malloc");
    p->at = now();
    p->length = (size_t)length;
    memcpy(p->bytes, buffer, (size_t)length);
    d->queued_bytes += p->length;
    put(&d->queue, p);
  }
}

// Moves the packets that the transmitter has had time for onto the way, and delivers those that are due. Departures are computed
// from each other and not from when we wake up, so a late wake-up delays the line but never slows it. Returns when to look again.
static uint64_t advance(direction *d) {
  uint64_t at = now();
  while (d->queue.first) {
    packet *p = d->queue.first;
    uint64_t begin = d->free_at > p->at ? d->free_at : p->at;
    uint64_t departs = begin + p->length * 8 * SECOND / now_set.bits_per_second;
    if (departs > at) break;
    take(&d->queue);
    d->queued_bytes -= p->length;
    d->free_at = departs;
    p->at = departs + now_set.delay_ns;
    put(&d->way, p);
  }
  while (d->way.first && d->way.first->at <= at) {
    packet *p = d->way.first;
    if (write(d->to, p->bytes, p->length) < 0 && errno == EAGAIN) break;
    free(take(&d->way));
  }
  uint64_t next = at + SECOND / 10;
  if (d->way.first && d->way.first->at < next) next = d->way.first->at;
  if (d->queue.first) {
    uint64_t begin = d->free_at > d->queue.first->at ? d->free_at : d->queue.first->at;
    uint64_t departs = begin + d->queue.first->length * 8 * SECOND / now_set.bits_per_second;
    if (departs < next) next = departs;
  }
  return next;
}

static void obey(void) {
  static char text[4096];
  static size_t have;
  ssize_t length = read(0, text + have, sizeof text - 1 - have);
  if (length <= 0) exit(0);
  have += (size_t)length;
  text[have] = 0;
  for (char *end; (end = strchr(text, '\n'));) {
    *end = 0;
    setting s;
    if (sscanf(text, "line %lu %lu %lu %lu", &s.delay_ns, &s.bits_per_second, &s.loss_per_million, &s.queue_bytes) == 4) {
      s.delay_ns *= 1000;
      now_set = s;
      printf("ok\n");
    } else printf("unknown command\n");
    fflush(stdout);
    have -= (size_t)(end + 1 - text);
    memmove(text, end + 1, have + 1);
  }
}

int main(int count, char **words) {
  if (count != 4) return fputs("forwarder NAMESPACE_A NAMESPACE_B SEED\n", stderr), 2;
  chance_state = strtoull(words[3], NULL, 10) * 2 + 1;
  // A line does not wait for a busy machine, so this runs ahead of ordinary processes, where that is allowed.
  struct sched_param first = {.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO, &first);
  prctl(PR_SET_TIMERSLACK, 20000ul);
  int a = open_device(words[1]), b = open_device(words[2]);
  direction d[2] = {{.from = a, .to = b}, {.from = b, .to = a}};
  for (int i = 0; i < 2; i++) {
    d[i].queue.last = &d[i].queue.first;
    d[i].way.last = &d[i].way.first;
  }
  puts("ready");
  fflush(stdout);
  for (;;) {
    uint64_t next = now() + SECOND / 10;
    for (int i = 0; i < 2; i++) {
      receive(&d[i]);
      uint64_t due = advance(&d[i]);
      if (due < next) next = due;
    }
    uint64_t at = now(), wait = next > at ? next - at : 0;
    // Packets that are due within 100 µs of each other are handled together. That saves processor time and makes no difference to TCP.
    if (wait < SECOND / 10000) wait = SECOND / 10000;
    struct timespec patience = {(time_t)(wait / SECOND), (long)(wait % SECOND)};
    struct pollfd ready[3] = {{a, POLLIN, 0}, {b, POLLIN, 0}, {0, POLLIN, 0}};
    ppoll(ready, 3, &patience, NULL);
    if (ready[2].revents) obey();
  }
}
