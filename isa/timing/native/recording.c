/* What recorded code writes (isa/timing/trace/recording.py): rows of one length, each a head and, for an access, a mask of
 * lanes and the addresses of a strip. */

/* A wave enters a block. Whenever the log is full Python takes it over, before the next block. */
EXPORT void record_block(struct log *log, uint64_t head)
{
    if (log->at >= log->full)
        ((int64_t (*)(void))log->drain)();
    *(uint64_t *)log->at = head;
    log->at += log->row;
}

/* A strip of lanes accesses these addresses. */
EXPORT void record_access(struct log *log, uint64_t head, uint64_t mask, const uint64_t *addresses)
{
    uint64_t *row = (uint64_t *)log->at;
    row[0] = head;
    row[1] = mask;
    for (uint64_t i = 0; i < log->lanes; i++)
        row[2 + i] = addresses[i];
    log->at += log->row;
}
