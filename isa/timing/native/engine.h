/* What the cycle engine keeps while it plays: waves, slots, SIMDs, CUs.
 *
 * `struct code`, `recorded`, `work`, `machine`, `played` and the names of kinds, causes and policies come from
 * isa/timing/native/engine_abi.py. Times are cycles of the shader clock since the launch: whole ones where something is issued or
 * waited for, fractions where a queue serves less or more than one a cycle.
 */

enum {
    KEEP = 64,   /* completions remembered a counter: the counters have 6 bits */
    DEPTH = 16,  /* results of VALU instructions remembered: s_delay_alu looks back 4, va_vdst 15 */
    BEGUN = 32,  /* VALU instructions of a SIMD whose begin is remembered; more than fit into its queue */
    COUNTERS = 3 /* vmcnt, lgkmcnt, vscnt */
};
enum { AT_NOTHING, AT_VALU, AT_PATH };
#define LGKM 1
#define VALU_UNIT 1
#define NEVER ((int64_t)1 << 60)

/* What every issue needs of an instruction, close together: `struct code` has it array by array, with 64 bits a number,
 * and an unrolled loop of that does not stay in the first cache. */
struct op {
    int32_t line;      /* of the code */
    int32_t registers; /* where its reads begin in `engine.registers`; its writes follow */
    int16_t value;
    uint8_t kind, unit, passes, hold, bank_reuse, bank_cold, latency;
    uint8_t delay[4];
    int8_t wait[COUNTERS];
    uint8_t reads, writes;
    bool scalar_reads; /* a VALU instruction that reads SGPRs, VCC or EXEC by name */
    bool settled; /* a VALU instruction whose operands are always ready when the VALU is */
};

/* One resident wave. Waves of the workgroup in slot i are i * waves, i * waves + 1, ... */
struct wave {
    bool live;
    bool looked;                         /* at the next instruction: its line is there */
    int64_t pc;                          /* instruction that it issues next */
    int64_t block_pos, block_end;        /* of its recording: the block after this one, and after the last */
    int64_t op_end;                      /* after the last instruction of this block */
    int64_t lds_pos, mem_pos;            /* of its recording: the next LDS access, the next memory access */
    int64_t workgroup, simd;
    int64_t priority, age, begun;        /* begun: when it was dispatched */
    int64_t line;                        /* of code, fetched last */
    int64_t ready[REGISTERS];            /* when a VALU may execute with it */
    int64_t scalar_ready[REGISTERS - VGPRS]; /* when a scalar instruction may issue with it */
    int64_t scalar_read[REGISTERS - VGPRS]; /* when the last VALU instruction that reads it executes */
    int64_t smem_next;                   /* when a scalar load outside of a clause may follow the last one */
    bool accessed;                       /* its last instruction was an access to LDS or memory */
    int64_t written;                     /* execution of the last VALU instruction that writes a VGPR */
    int64_t history[DEPTH], history_n;   /* results of the last VALU instructions but the transcendental ones */
    int64_t trans[DEPTH], trans_n;       /* of those, which s_delay_alu counts by themselves */
    int64_t results[DEPTH], results_n;   /* of all, none before the one before it, as va_vdst counts them */
    int64_t issued_n[COUNTERS];          /* accesses that raised a counter */
    int64_t done[COUNTERS][KEEP];        /* when each of the last ones is complete, and those before it */
    int64_t queued[KEEP];                /* of lgkmcnt: cycles that it spent in queues */
    bool scalar_load[KEEP];              /* of lgkmcnt: it is a scalar load */
    int64_t last_t;                      /* when its last instruction issued */
    int64_t stalls[CAUSES];              /* since its last VALU instruction */
    int64_t stall_n, stall_cause;        /* the longest of them */
    int64_t stalled_to;                  /* what is before is told */
    int64_t held_op, held_at, held_why;  /* while stalls are recorded: whose goes on, since when, for which cause */
};

struct slot {
    int64_t start;   /* when its next workgroup begins, -1 where none is on its way */
    int64_t alive;   /* waves that have not ended */
    int64_t arrived; /* of them, at the barrier */
};

struct simd {
    int64_t wake;               /* nothing happens before */
    int64_t *order, count;      /* its waves: by priority, then age */
    int64_t valu_free, trans_free, port_free;
    int64_t begun[BEGUN], begun_n; /* execution of the last VALU instructions */
    uint64_t awake;             /* positions in `order` of waves that may issue, but for what holds them */
    uint64_t valu, path;        /* positions of waves that are known to want the VALU, only the request path */
    int64_t next_wake;          /* when one of the others wakes */
    int64_t last_wave, last_at; /* whose turn it was, for the policy, and its position then */
    int64_t bank_wave;          /* whose operands the operand caches hold */
    double return_free, store_free; /* buses between LDS and VGPRs */
};

/* One 128-byte line of L0. */
struct line {
    int64_t tag;    /* number of the line, -1 for none */
    int64_t used;   /* when it was asked for last */
    int64_t filled; /* when it is there */
};

enum { FAR = 3 }; /* beyond L1, L2, L3 */

/* A set of keys, 0 for none; size is a power of two, n how many there are, most how many there may be. */
struct brought {
    uint32_t *keys;
    int64_t size, most, n;
};

struct cu {
    double path, ta, fill, l1, l2, l3, vram, bus; /* when each queue is free again */
    struct line *l0; /* [l0_sets][l0_ways] */
};

struct engine {
    const struct code *code;
    const struct recorded *rec;
    const struct work *work;
    const struct machine *m;
    const struct played *out;
    int64_t t; /* now */
    struct op *ops;
    int16_t *registers;
    struct wave *waves;
    int64_t rows;  /* of them */
    int64_t *wake; /* [rows]: when each looks for its next instruction; apart, since it is read most */
    uint8_t *waits; /* [rows]: what its next instruction, whose line is there, is known to want */
    struct slot *slots;
    int64_t next_start; /* the first of their workgroups that are on their way */
    struct simd *simds;
    int64_t *orders; /* [simds][rows] */
    struct cu *cus;
    int64_t cus_n;
    struct line *l0; /* [cus][l0_sets][l0_ways] */
    double *lds_free;
    struct brought brought; /* lines that L0s have had, see isa/timing/model/caches.py */
    int64_t *fetch_ready, fetch_n; /* when a line of the code is there; -1 where nobody asked */
    int64_t *cache_ring, cache_n; /* lines in the instruction cache, in the order they came */
    int64_t issued, started, finished, births, resident, n_events, n_waits;
    bool all_code_fits; /* into the instruction cache: no line ever goes */
    uint64_t random;
    bool recording; /* of events and stalls */
};

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline double later(double a, double b) { return a > b ? a : b; }

/* The first whole number that is not below x. */
static inline int64_t whole(double x)
{
    int64_t n = (int64_t)x;
    return n + ((double)n < x);
}

/* `why` holds the wave in these cycles, of which each is told once: remembered if nothing held it longer since its last
 * VALU instruction. */
static inline void stalled(struct wave *w, int64_t from, int64_t to, int64_t why)
{
    from = most(from, w->stalled_to);
    if (to <= from)
        return;
    w->stalled_to = to;
    w->stalls[why] += to - from;
    if (w->stalls[why] > w->stall_n) {
        w->stall_n = w->stalls[why];
        w->stall_cause = why;
    }
}

/* What held the wave is told; what does next is `why`, until something else takes longer. */
static inline void begins_anew(struct wave *w, int64_t why)
{
    if (w->stall_n)
        for (int k = 0; k < CAUSES; k++)
            w->stalls[k] = 0;
    w->stall_n = 0;
    w->stall_cause = why;
}

/* What holds the wave, up to now, as a row of `Played.waits`. */
static inline void note_wait(struct engine *e, const struct wave *w)
{
    if (e->t <= w->held_at || e->n_waits >= e->out->waits_n)
        return;
    int64_t *wait = &e->out->waits[6 * e->n_waits++];
    wait[0] = w->simd, wait[1] = w - e->waves, wait[2] = w->held_at, wait[3] = e->t - w->held_at;
    wait[4] = w->held_op, wait[5] = w->held_why;
}

/* While stalls are recorded: what held the wave until now goes to its instruction, and from now on `op` waits. */
static inline void charge(struct engine *e, struct wave *w, int64_t op, int64_t why)
{
    if (!e->recording)
        return;
    note_wait(e, w);
    e->out->stalls[w->held_op * CAUSES + w->held_why] += e->t - w->held_at;
    w->held_op = op;
    w->held_at = e->t;
    w->held_why = why;
}

/* The wave waits at `op` for `why`, perhaps as it did. */
static inline void wait_for(struct engine *e, struct wave *w, int64_t op, int64_t why)
{
    if (w->held_op != op || w->held_why != why)
        charge(e, w, op, why);
}

/* An access that raises `counter` is complete at `finish`, and not before those that were issued before it. */
static inline void completes(struct wave *w, int64_t counter, int64_t finish, int64_t queued, bool scalar_load)
{
    int64_t n = w->issued_n[counter]++;
    w->done[counter][n & (KEEP - 1)] = most(finish, w->done[counter][(n - 1) & (KEEP - 1)]);
    if (counter == LGKM) {
        w->queued[n & (KEEP - 1)] = queued;
        w->scalar_load[n & (KEEP - 1)] = scalar_load;
    }
}
