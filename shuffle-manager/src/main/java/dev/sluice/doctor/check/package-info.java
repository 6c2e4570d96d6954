/** What the doctor asks of a node: one class for each question, each with a deadline. */
package dev.sluice.doctor.check;
