/* SPDX-License-Identifier: MIT */
#ifndef VM_COUNTER_H
#define VM_COUNTER_H

/*
 * How fast the processor's time stamp counter runs, in kHz. QEMU passes the host's counter
 * on, and Linux in it finds a wrong rate when it measures on a busy host.
 */
double counter_rate(void);

#endif /* VM_COUNTER_H */
