/* What hooks are written with. `struct context`, `wave`, `thread` and the others, and the names of numbers, come from
 * isa/sim/ir/state.py and isa/sanitize/state.py. Numbers are unsigned, and arithmetic wraps. Addresses are those of host
 * memory, but `address` alone is the program's. */

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef u32 __attribute__((aligned(1), may_alias)) loose_u32;
typedef u64 __attribute__((aligned(1), may_alias)) loose_u64;

/* What lies at an address, wherever that is. */
#define U32(place) (*(loose_u32 *)(place))
#define U64(place) (*(loose_u64 *)(place))
#define BIT(number) ((u64)1 << (number))

static struct thread *thread_of(struct context *c) { return (struct thread *)c->shadow; }
static struct shadow *shadow_of(struct wave *w) { return (struct shadow *)w->shadow; }
static struct wave *wave_of(struct context *c, u64 index) { return (struct wave *)(c->waves + index * c->wave_bytes); }

/* Add to a number, or set it, and give what it was, as one step for all threads; nothing is moved across the latter.
 * Change a number if it is still what it was. */
static u64 fetch_add(u64 *place, u64 number) { return __atomic_fetch_add(place, number, __ATOMIC_RELAXED); }
static u64 fetch_set(u64 *place, u64 number) { return __atomic_exchange_n(place, number, __ATOMIC_SEQ_CST); }
static bool changed(u32 *place, u32 was, u32 number)
{
    return __atomic_compare_exchange_n(place, &was, number, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* What `struct thread` has addresses of: Python, and the kernel's own runtime. */
typedef u64 telling(struct context *c, u64 event, u64 site, u64 wave, u64 lanes, u64 address, u64 other,
                    u64 other_site);
typedef void starting(struct context *c, u64 group);
typedef u32 stopping(struct wave *w, struct context *c);
typedef u64 giving(struct context *c);
