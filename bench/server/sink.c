// The far end of every measurement: an HTTP/1.1 server that discards bodies as cheaply as the system allows, counts what it
// receives, and reads of each body only the stamp at its front, which says which range of which file it is. It answers plain PUT, the multipart calls of S3 and the core of tus, just enough for a client to
// finish. The same program serves all contestants, over plain TCP or TLS, with a thread for each connection.
//
//   sink [--port N] [--cert FILE --key FILE]
//
// It prints its port as the first line of stdout. When stdin ends it prints its counts as one line of JSON and exits, so
// that it never outlives whoever started it.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef WITH_TLS
#include <openssl/err.h>
#include <openssl/ssl.h>
static SSL_CTX *tls;
typedef SSL Tls;
#else
typedef void Tls;
#endif

enum { BUFFER = 64 * 1024, STEP = 4 * 1024 * 1024, STAMP = 16 };

static atomic_llong body_bytes;
static atomic_long bodies, requests, connections, open_now, most_open, next_upload;

// The bodies that came to their end and had a stamp. See measure/stamps.ts.
struct range { unsigned long file; unsigned long long at; long long length; };
static struct range *ranges;
static size_t range_count, range_room;
static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER;

struct conversation {
  int socket;
  Tls *tls;
  size_t have; // bytes at the front of the buffer that are not yet consumed
  char buffer[BUFFER + 1];
};

static ssize_t take(struct conversation *c, char *into, size_t room) {
#ifdef WITH_TLS
  if (c->tls) return SSL_read(c->tls, into, (int)room);
#endif
  return recv(c->socket, into, room, 0);
}

static int give(struct conversation *c, const char *text, size_t length) {
  while (length > 0) {
    ssize_t sent;
#ifdef WITH_TLS
    if (c->tls) sent = SSL_write(c->tls, text, (int)length);
    else
#endif
      sent = send(c->socket, text, length, MSG_NOSIGNAL);
    if (sent <= 0) return -1;
    text += sent;
    length -= (size_t)sent;
  }
  return 0;
}

// Reads a body off the connection, and counts it if it belongs to a file. Over plain TCP on Linux the bytes never leave the kernel.
static int discard(struct conversation *c, long long length, int is_counted) {
  size_t early = (long long)c->have < length ? c->have : (size_t)length;
  memmove(c->buffer, c->buffer + early, c->have - early);
  c->have -= early;
  if (is_counted) atomic_fetch_add(&body_bytes, (long long)early);
  length -= (long long)early;
  while (length > 0) {
    ssize_t got;
#ifdef __linux__
    if (!c->tls) got = recv(c->socket, NULL, length < STEP ? (size_t)length : STEP, MSG_TRUNC);
    else
#endif
      got = take(c, c->buffer, length < BUFFER ? (size_t)length : BUFFER);
    if (got <= 0) return -1;
    length -= got;
    if (is_counted) atomic_fetch_add(&body_bytes, got);
  }
  return 0;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static unsigned long long number_at(const unsigned char *bytes, int count) {
  unsigned long long number = 0;
  for (int i = 0; i < count; i++) number = number << 8 | bytes[i];
  return number;
}

// Reads the stamp at the front of a body, which stays in the buffer. Returns whether there is one.
static int read_stamp(struct conversation *c, long long length, struct range *found) {
  if (length < STAMP) return 0;
  while (c->have < STAMP) {
    ssize_t got = take(c, c->buffer + c->have, STAMP - c->have);
    if (got <= 0) return 0;
    c->have += (size_t)got;
  }
  const unsigned char *bytes = (const unsigned char *)c->buffer;
  if (memcmp(bytes, "moc@", 4) != 0) return 0;
  *found = (struct range){number_at(bytes + 4, 4), number_at(bytes + 8, 8), length};
  return 1;
}

static void keep_range(struct range found) {
  pthread_mutex_lock(&ranges_lock);
  if (range_count == range_room) {
    range_room = range_room * 2 + 1024;
    ranges = realloc(ranges, range_room * sizeof *ranges);
    if (!ranges) fail("memory");
  }
  ranges[range_count++] = found;
  pthread_mutex_unlock(&ranges_lock);
}

// Returns the length of the next head, which is then at the front of the buffer, followed by a zero byte, or 0 if there is none.
static size_t next_head(struct conversation *c) {
  for (;;) {
    c->buffer[c->have] = 0;
    char *end = strstr(c->buffer, "\r\n\r\n");
    if (end) return (size_t)(end - c->buffer) + 4;
    if (c->have >= BUFFER) return 0;
    ssize_t got = take(c, c->buffer + c->have, BUFFER - c->have);
    if (got <= 0) return 0;
    c->have += (size_t)got;
  }
}

// The value of a header of the head, '' if it is absent. Valid until the next call.
static const char *header(const char *head, const char *name) {
  static _Thread_local char value[256];
  size_t length = strlen(name);
  value[0] = 0;
  for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
    if (strncasecmp(line + 2, name, length) != 0 || line[2 + length] != ':') continue;
    const char *from = line + 3 + length;
    from += strspn(from, " \t");
    size_t size = strcspn(from, "\r");
    if (size >= sizeof value) size = sizeof value - 1;
    memcpy(value, from, size);
    value[size] = 0;
    break;
  }
  return value;
}

// Allows pages of another origin to send here and to read the answers (CORS).
static const char *for_pages = "Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: *\r\n";

static int answer(struct conversation *c, const char *status, const char *headers, const char *body) {
  char text[2048];
  int length = snprintf(text, sizeof text, "HTTP/1.1 %s\r\n%s%sContent-Length: %zu\r\n\r\n%s", status, headers, for_pages,
                        strlen(body), body);
  return give(c, text, (size_t)length);
}

static int answer_to(struct conversation *c, const char *method, const char *target, long long offset, long long length) {
  char headers[256];
  const char *xml = "Content-Type: application/xml\r\n";
  if (!strcmp(method, "PUT")) {
    atomic_fetch_add(&bodies, 1);
    // Not an MD5, and not even in its form: nobody here has read the body.
    return answer(c, "200 OK", "ETag: \"thrown-away\"\r\n", "");
  }
  if (!strcmp(method, "OPTIONS")) { // a browser's preflight
    return answer(c, "200 OK",
                  "Access-Control-Allow-Methods: PUT, POST, PATCH, GET, DELETE\r\nAccess-Control-Allow-Headers: *\r\n"
                  "Access-Control-Max-Age: 7200\r\n",
                  "");
  }
  if (!strcmp(method, "PATCH")) { // tus: the next bytes of an upload
    atomic_fetch_add(&bodies, 1);
    snprintf(headers, sizeof headers, "Tus-Resumable: 1.0.0\r\nUpload-Offset: %lld\r\n", offset + length);
    return answer(c, "204 No Content", headers, "");
  }
  if (!strcmp(method, "POST") && strstr(target, "uploadId=")) {
    return answer(c, "200 OK", xml,
                  "<CompleteMultipartUploadResult><Location>http://sink/b/k</Location><Bucket>b</Bucket><Key>k</Key>"
                  "<ETag>\"thrown-away\"</ETag></CompleteMultipartUploadResult>");
  }
  if (!strcmp(method, "POST") && strstr(target, "?uploads")) {
    return answer(c, "200 OK", xml,
                  "<InitiateMultipartUploadResult><Bucket>b</Bucket><Key>k</Key><UploadId>u</UploadId></InitiateMultipartUploadResult>");
  }
  if (!strcmp(method, "POST")) { // tus: a new upload
    snprintf(headers, sizeof headers, "Tus-Resumable: 1.0.0\r\nLocation: /tus/%ld\r\n", atomic_fetch_add(&next_upload, 1));
    return answer(c, "201 Created", headers, "");
  }
  return answer(c, "404 Not Found", "", "");
}

static void converse(struct conversation *c) {
  for (size_t head; (head = next_head(c)) > 0;) {
    char method[16] = "", target[2048] = "";
    char after = c->buffer[head];
    c->buffer[head] = 0;
    sscanf(c->buffer, "%15s %2047s", method, target);
    long long length = atoll(header(c->buffer, "content-length"));
    long long offset = atoll(header(c->buffer, "upload-offset"));
    int is_chunked = header(c->buffer, "transfer-encoding")[0] != 0;
    int waits = !strncasecmp(header(c->buffer, "expect"), "100-", 4);
    c->buffer[head] = after;
    memmove(c->buffer, c->buffer + head, c->have - head);
    c->have -= head;
    atomic_fetch_add(&requests, 1);
    // A body of unknown length could not be compared with the file's.
    if (is_chunked) {
      answer(c, "411 Length Required", "Connection: close\r\n", "");
      return;
    }
    if (waits && give(c, "HTTP/1.1 100 Continue\r\n\r\n", 25) < 0) return;
    // The body of a POST to a multipart or tus server is not part of a file.
    int is_counted = !strcmp(method, "PUT") || !strcmp(method, "PATCH");
    struct range found;
    int is_stamped = is_counted && read_stamp(c, length, &found);
    if (discard(c, length, is_counted) < 0) return;
    if (is_stamped) keep_range(found);
    if (answer_to(c, method, target, offset, length) < 0) return;
  }
}

static void *serve(void *argument) {
  struct conversation *c = argument;
  int on = 1;
  setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  long now = atomic_fetch_add(&open_now, 1) + 1, most = atomic_load(&most_open);
  while (now > most && !atomic_compare_exchange_weak(&most_open, &most, now)) {}
#ifdef WITH_TLS
  if (tls) {
    c->tls = SSL_new(tls);
    SSL_set_fd(c->tls, c->socket);
    if (SSL_accept(c->tls) == 1) converse(c);
    SSL_free(c->tls);
  } else
#endif
    converse(c);
  close(c->socket);
  free(c);
  atomic_fetch_sub(&open_now, 1);
  return NULL;
}

// Prints the counts and ends the process once whoever started it closes its stdin.
static void *watch_stdin(void *argument) {
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {}
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double cpu_ms = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
                  (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
  printf("{\"bodyBytes\":%lld,\"bodies\":%ld,\"requests\":%ld,\"connections\":%ld,\"mostOpen\":%ld,\"cpuMs\":%.1f,\"ranges\":[",
         atomic_load(&body_bytes), atomic_load(&bodies), atomic_load(&requests), atomic_load(&connections),
         atomic_load(&most_open), cpu_ms);
  pthread_mutex_lock(&ranges_lock);
  for (size_t i = 0; i < range_count; i++)
    printf("%s[%lu,%llu,%lld]", i ? "," : "", ranges[i].file, ranges[i].at, ranges[i].length);
  printf("]}\n");
  fflush(stdout);
  _exit(0);
  return argument;
}

int main(int count, char **words) {
  const char *cert = NULL, *key = NULL;
  int port = 0, on = 1;
  for (int i = 1; i + 1 < count; i += 2) {
    if (!strcmp(words[i], "--port")) port = atoi(words[i + 1]);
    else if (!strcmp(words[i], "--cert")) cert = words[i + 1];
    else if (!strcmp(words[i], "--key")) key = words[i + 1];
  }
  signal(SIGPIPE, SIG_IGN);
  if (cert && key) {
#ifdef WITH_TLS
    tls = SSL_CTX_new(TLS_server_method());
    if (!tls || SSL_CTX_use_certificate_file(tls, cert, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1) {
      ERR_print_errors_fp(stderr);
      return 1;
    }
    SSL_CTX_set_read_ahead(tls, 1);
#else
    fprintf(stderr, "This sink was built without TLS.\n");
    return 1;
#endif
  }
  int door = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  if (bind(door, (void *)&address, size) || listen(door, 1024) || getsockname(door, (void *)&address, &size)) fail("sink");
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);

  pthread_t watcher;
  if (pthread_create(&watcher, NULL, watch_stdin, NULL)) fail("thread");
  for (;;) {
    int visitor = accept(door, NULL, NULL);
    if (visitor < 0) continue;
    atomic_fetch_add(&connections, 1);
    struct conversation *c = calloc(1, sizeof *c);
    pthread_t thread;
    if (!c) fail("memory");
    c->socket = visitor;
    if (pthread_create(&thread, NULL, serve, c)) fail("thread");
    pthread_detach(thread);
  }
}
