/* Reno (RFC 5681) as a library for Tonopah: the same decisions, byte for byte, as the engine's own `reno` in its profile `rfc`. */
#include <math.h>
#include <stdlib.h>
#include <tonopah.h>

struct reno {
    double beta, initial_window, cwnd, ssthresh, counted;
};

static void *create(const struct tonopah_setup *setup, const double *parameters)
{
    struct reno *reno = malloc(sizeof *reno);
    if (reno)
        *reno = (struct reno){
            .beta = parameters[0],
            .initial_window = setup->initial_window_bytes,
            .cwnd = setup->initial_window_bytes,
            .ssthresh = setup->initial_ssthresh_bytes,
        };
    return reno;
}

/* One segment per ACK in slow start (equation 2), one segment for each window of acknowledged bytes after it (section 3.1). */
static void on_ack(struct reno *reno, const struct tonopah_ack *ack, const struct tonopah_view *view)
{
    double acked = ack->acked_bytes, mss = view->mss_bytes;
    if (view->may_grow == 0 || acked == 0)
        return;
    if (reno->cwnd < reno->ssthresh) {
        acked = fmin(acked, mss);
        double grown = fmin(acked, reno->ssthresh - reno->cwnd);
        reno->cwnd += grown;
        acked -= grown;
    }
    if (acked > 0 && reno->cwnd >= reno->ssthresh) {
        double price = reno->cwnd;
        if (reno->counted >= price) {
            reno->counted = 0;
            reno->cwnd += mss;
        }
        reno->counted += acked;
        reno->cwnd += floor(reno->counted / price) * mss;
        reno->counted = fmod(reno->counted, price);
    }
}

/* Halve (equation 4; to one segment at least if marks say so), again at the loss of a retransmission (section 4.3); after a time-out
 * start again from the loss window. */
static void on_congestion(struct reno *reno, const struct tonopah_congestion *event, const struct tonopah_view *view)
{
    double least = event->cause == TONOPAH_ECN ? 1 : 2;
    double base = event->again != 0 ? reno->ssthresh : event->flight_bytes;
    double ssthresh = fmax(floor(base * reno->beta), least * view->mss_bytes);
    reno->counted = 0;
    if (event->cause != TONOPAH_TIMEOUT) {
        reno->cwnd = reno->ssthresh = ssthresh;
        return;
    }
    reno->cwnd = event->loss_window_bytes;
    if (event->first != 0)
        reno->ssthresh = ssthresh;
}

/* The losses were none: at least what there was before. */
static void on_undo(struct reno *reno, const double *before)
{
    reno->cwnd = fmax(reno->cwnd, before[0]);
    reno->ssthresh = fmax(fmax(reno->ssthresh, before[1]), floor(before[0] / 2) + floor(before[0] / 4));
}

/* Down to the initial window after silence longer than the time-out (section 4.1). */
static void on_idle(struct reno *reno, const double *idle_s, const struct tonopah_view *view)
{
    if (view->slow_start_after_idle != 0 && *idle_s > view->rto_s)
        reno->cwnd = fmin(reno->cwnd, reno->initial_window);
}

/* What a run may record. */
static void observe(const void *state, double *values)
{
    values[0] = ((const struct reno *)state)->counted;
}

static void event(int32_t kind, void *state, const void *signal, const struct tonopah_view *view, struct tonopah_answers *answers)
{
    struct reno *reno = state;
    switch (kind) {
    case TONOPAH_ON_ACK: on_ack(reno, signal, view); break;
    case TONOPAH_ON_CONGESTION: on_congestion(reno, signal, view); break;
    case TONOPAH_ON_UNDO: on_undo(reno, signal); break;
    case TONOPAH_ON_IDLE: on_idle(reno, signal, view); break;
    }
    answers->cwnd_bytes = reno->cwnd;
    answers->ssthresh_bytes = reno->ssthresh;
}

static const struct tonopah_parameter parameters[] = {
    { .name = "beta", .standard = 0.5, .min = 0.1, .max = 0.9, .doc = "what remains of the window after a loss" },
};

static const struct tonopah_internal internals[] = {
    { .name = "counted_bytes", .doc = "acknowledged since the window last grew" },
};

const struct tonopah_algorithm tonopah_algorithm = {
    .abi = TONOPAH_ABI,
    .wanted = TONOPAH_WANTS(TONOPAH_ON_ACK) | TONOPAH_WANTS(TONOPAH_ON_CONGESTION) | TONOPAH_WANTS(TONOPAH_ON_UNDO)
        | TONOPAH_WANTS(TONOPAH_ON_IDLE),
    .title = "Reno in C",
    .reference = "RFC 5681",
    .parameters = parameters,
    .parameter_count = 1,
    .create = create,
    .destroy = free,
    .event = event,
    .strict = 1,
    .internals = internals,
    .internal_count = 1,
    .observe = observe,
};
