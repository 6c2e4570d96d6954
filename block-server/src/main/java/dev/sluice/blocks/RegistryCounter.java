package dev.sluice.blocks;

/** What a {@link MapOutputRegistry} counts. */
public enum RegistryCounter {
  /** Bytes, in whole pages, that count against the registration budget now. */
  REGISTERED_BYTES,

  /** Memory regions that count against the limit of mappings, or of open files, now. */
  REGISTERED_REGIONS,

  /** Map outputs that can be READ now, those that are staged included. */
  REGISTERED_OUTPUTS,

  /** Map outputs registered or staged so far, repeated ones included. */
  REGISTRATIONS,

  /** Shuffles deregistered so far that nobody read: to make room, or because they were over. */
  EVICTIONS,

  /**
   * Times so far that a shuffle gave back its resident pages, which are registered on demand: there
   * were more of them than may be registered.
   */
  PAGES_GIVEN_BACK,

  /** Map outputs not registered so far because their files are inconsistent or unreadable. */
  REJECTIONS,

  /** Map outputs so far that are READ from staging memory, because they could not be registered. */
  STAGED_OUTPUTS,

  /** Bytes of map outputs copied into staging memory so far, as readers asked for them. */
  STAGED_BYTES,

  /** Memory regions that staging has now; they stay once they are needed. */
  STAGING_REGIONS,

  /** Bytes that are being staged, or that a reader has a lease of, now. */
  STAGING_BYTES_IN_USE,

  /** Requests for staged bytes so far that had to wait for their turn, for memory or for both. */
  STAGING_WAITS,

  /**
   * Microseconds so far from the receipt of requests for staged bytes until there was memory for
   * them, or was none in time.
   */
  STAGING_WAIT_MICROS,

  /** Requests for staged bytes that were not served so far. */
  STAGING_REFUSALS,

  /** Leases that have run out so far: their readers have not said in time that they are done. */
  LEASES_EXPIRED,

  /** Map outputs not registered so far because their files did not exist any more. */
  GONE,

  /** Local directories whose map outputs are registered as open files. */
  DIRECTORIES_OPEN_FILES,

  /** Local directories whose map outputs are registered as read-only mappings. */
  DIRECTORIES_READ_ONLY,

  /**
   * Local directories whose map outputs are registered as read-write mappings, because the kernel
   * refuses read-only ones.
   */
  DIRECTORIES_READ_WRITE,

  /** Local directories whose map outputs are registered without pinning them. */
  DIRECTORIES_ON_DEMAND,

  /**
   * Bytes, in whole pages, that registering read-write mappings has dirtied so far: a disk has to
   * write them once more.
   */
  DIRTIED_BYTES
}
