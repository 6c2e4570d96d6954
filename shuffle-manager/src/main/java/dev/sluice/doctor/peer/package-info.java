/** READs from the doctor of another node, by the transfer engine of the shuffle. */
package dev.sluice.doctor.peer;
