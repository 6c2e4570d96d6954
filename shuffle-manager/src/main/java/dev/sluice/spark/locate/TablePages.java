package dev.sluice.spark.locate;

import dev.sluice.spark.transport.FallbackReason;
import java.util.HashMap;
import java.util.Map;

/** The pages that one fetch asked for, or why it has them not. Filled by one thread at a time. */
final class TablePages {
  private final Map<PageKey, TablePage> found = new HashMap<>();
  private final Map<PageKey, FallbackReason> failures = new HashMap<>();

  void found(PageKey key, TablePage page) {
    found.put(key, page);
  }

  void failed(PageKey key, FallbackReason reason) {
    failures.put(key, reason);
  }

  /** Null when the page could not be READ. */
  TablePage get(PageKey key) {
    return found.get(key);
  }

  /** Why a page is missing. */
  FallbackReason failure(PageKey key) {
    return failures.get(key);
  }
}
