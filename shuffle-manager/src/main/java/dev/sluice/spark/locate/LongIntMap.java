package dev.sluice.spark.locate;

import java.util.Arrays;

/** Map ids to record numbers in primitive arrays: 24 bytes an entry. Not thread-safe. */
final class LongIntMap {
  static final int ABSENT = -1;

  private static final int FREE = -2;

  private long[] keys = new long[32];
  private int[] values = filled(32);
  private int used;

  /** The key's value, which may be ABSENT, or ABSENT. */
  int get(long key) {
    int value = values[slot(key)];
    return value == FREE ? ABSENT : value;
  }

  void put(long key, int value) {
    int slot = slot(key);
    if (values[slot] == FREE) {
      if (2 * ++used > keys.length) {
        grow();
        slot = slot(key);
      }
      keys[slot] = key;
    }
    values[slot] = value;
  }

  private int slot(long key) {
    int mask = keys.length - 1;
    int slot = Long.hashCode(key * 0x9E3779B97F4A7C15L) & mask;
    while (values[slot] != FREE && keys[slot] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    long[] oldKeys = keys;
    int[] oldValues = values;
    keys = new long[2 * oldKeys.length];
    values = filled(keys.length);
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldValues[i] != FREE) {
        int slot = slot(oldKeys[i]);
        keys[slot] = oldKeys[i];
        values[slot] = oldValues[i];
      }
    }
  }

  private static int[] filled(int length) {
    int[] values = new int[length];
    Arrays.fill(values, FREE);
    return values;
  }
}
