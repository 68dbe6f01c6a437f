/* A transport with streams for links that lose nothing: datagrams of up to 1,000 bytes, a millisecond apart, which depart later than
 * they are handed over; at most 20 are waiting, so that writes are cut short, and 8 streams are open at a time. Its ends close, and tell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tonopah_transport.h"

#define PAYLOAD 1000
#define WAITING 20
#define STREAMS 4096
enum { SYN, SYN_ACK, DATA, CLOSE };

struct stream { int known, opened, readable, blocked, fin, ended; uint8_t *in; uint64_t length, read; };
struct packet { uint64_t length; uint8_t bytes[PAYLOAD + 6]; };
struct end {
    uint32_t role; int connected, told, closed, told_closed; uint64_t now, last, next_id, open;
    struct packet out[WAITING + 4]; uint64_t first, count; struct stream streams[STREAMS];
};

static void put(struct end *e, uint8_t kind, uint32_t stream, uint8_t fin, const uint8_t *b, uint64_t n) {
    struct packet *p = &e->out[(e->first + e->count++) % (WAITING + 4)];
    p->bytes[0] = kind; memcpy(p->bytes + 1, &stream, 4); p->bytes[5] = fin;
    if (n) memcpy(p->bytes + 6, b, n);
    p->length = 6 + n;
}
static void *create(const struct tonopah_transport_setup *s, const double *options) {
    struct end *e = calloc(1, sizeof *e);
    (void)options; e->role = s->role;
    if (s->role == TONOPAH_CLIENT) put(e, SYN, 0, 0, NULL, 0);
    return e;
}
static void destroy(void *end) {
    struct end *e = end;
    for (int i = 0; i < STREAMS; i++) free(e->streams[i].in);
    free(e);
}
static int32_t on_datagram(void *end, uint64_t now, const uint8_t *b, uint64_t n, uint32_t ecn) {
    struct end *e = end; uint32_t id; e->now = now; (void)ecn;
    memcpy(&id, b + 1, 4);
    struct stream *s = &e->streams[id % STREAMS];
    if (b[0] == SYN) { e->connected = 1; put(e, SYN_ACK, 0, 0, NULL, 0); }
    else if (b[0] == SYN_ACK) e->connected = 1;
    else if (b[0] == CLOSE) e->closed = 1;
    else {
        if (!s->known) s->known = s->opened = 1;
        s->in = realloc(s->in, s->length + n); memcpy(s->in + s->length, b + 6, n - 6);
        s->length += n - 6; s->fin |= b[5]; s->readable = 1;
    }
    return 0;
}
static int32_t on_timeout(void *end, uint64_t now) { ((struct end *)end)->now = now; return 0; }
static uint64_t next_timeout(void *end) {
    struct end *e = end;
    for (int i = 0; i < STREAMS; i++) if (e->streams[i].blocked == 1) return e->last;
    return TONOPAH_NEVER;
}
static int32_t poll_transmit(void *end, uint64_t now, uint8_t *b, uint64_t capacity, struct tonopah_datagram *d) {
    struct end *e = end; (void)capacity;
    if (!e->count) return 0;
    struct packet *p = &e->out[e->first % (WAITING + 4)];
    e->last = e->last + 1000000 > now ? e->last + 1000000 : now;
    memcpy(b, p->bytes, p->length);
    *d = (struct tonopah_datagram){ e->last, p->length, TONOPAH_ECT0, 0 };
    e->first++; e->count--;
    return 1;
}
static int32_t poll_event(void *end, struct tonopah_event *v) {
    struct end *e = end;
#define TELL(kind, stream) do { *v = (struct tonopah_event){ kind, 0, stream }; return 1; } while (0)
    if (e->connected && !e->told) { e->told = 1; TELL(TONOPAH_EVENT_CONNECTED, 0); }
    for (uint64_t i = 0; i < STREAMS; i++) {
        struct stream *s = &e->streams[i];
        if (s->opened) { s->opened = 0; TELL(TONOPAH_EVENT_OPENED, i); }
        if (s->readable) { s->readable = 0; TELL(TONOPAH_EVENT_READABLE, i); }
        if (s->blocked && e->count < WAITING && e->now >= e->last) { s->blocked = 0; TELL(TONOPAH_EVENT_WRITABLE, i); }
    }
    if (e->closed && !e->told_closed) { e->told_closed = 1; TELL(TONOPAH_EVENT_CLOSED, 0); }
    return 0;
}
static int64_t open_(void *end, uint64_t now, uint32_t both) {
    struct end *e = end; (void)now;
    if (e->open == 8) return -1;
    uint64_t id = e->next_id; e->next_id += 4;
    if (!both) id += 2; else e->open++;
    e->streams[id % STREAMS].known = 1;
    return (int64_t)id;
}
static int64_t write_(void *end, uint64_t now, uint64_t id, const uint8_t *b, uint64_t n, uint32_t fin) {
    struct end *e = end; uint64_t taken = 0; (void)now;
    while (e->count < WAITING && (taken < n || (fin && taken == n))) {
        uint64_t k = n - taken < PAYLOAD ? n - taken : PAYLOAD;
        taken += k;
        put(e, DATA, (uint32_t)id, fin && taken == n, b + taken - k, k);
        if (fin && taken == n) return (int64_t)taken;
    }
    e->streams[id % STREAMS].blocked = taken < n;
    return (int64_t)taken;
}
static int64_t read_(void *end, uint64_t now, uint64_t id, uint8_t *b, uint64_t n, uint32_t *fin) {
    struct end *e = end; struct stream *s = &e->streams[id % STREAMS]; (void)now;
    uint64_t k = s->length - s->read < n ? s->length - s->read : n;
    if (k) memcpy(b, s->in + s->read, k);
    s->read += k; *fin = s->fin && s->read == s->length;
    if (*fin && !s->ended) { s->ended = 1; if (e->role == TONOPAH_CLIENT) e->open--; }
    return (int64_t)k;
}
static int32_t close_(void *end, uint64_t now) { struct end *e = end; (void)now; e->closed = 1; put(e, CLOSE, 0, 0, NULL, 0); return 0; }
static void stats(void *end, struct tonopah_transport_stats *s) {
    double *d = (double *)s; (void)end;
    for (unsigned i = 0; i < sizeof *s / sizeof *d; i++) d[i] = NAN;
}
const struct tonopah_transport tonopah_transport = {
    TONOPAH_TRANSPORT_ABI, sizeof(struct tonopah_transport), "streams", "a test", 17, 8, NULL, 0, NULL, 0,
    create, destroy, on_datagram, on_timeout, next_timeout, poll_transmit, poll_event, open_, write_, read_, close_, stats, NULL,
};
