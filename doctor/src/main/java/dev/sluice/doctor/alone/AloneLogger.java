// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

/**
 * SLF4J's {@code Logger} while the doctor runs from the drop-in jar alone: {@link AloneLoader}
 * renames it in the class files. It adds nothing to {@link Log}.
 */
public interface AloneLogger extends Log {}
