// SPDX-License-Identifier: Apache-2.0
package dev.sluice.doctor.alone;

/**
 * SLF4J's {@code Logger} while the doctor runs from the drop-in jar alone: {@link AloneLoader}
 * gives the class that name. It adds nothing to {@link Log}.
 */
public interface AloneLogger extends Log {}
