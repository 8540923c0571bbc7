/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_TEXT_H
#define FAIRLEAD_TEXT_H

/*
 * Text that is not our own, and goes to logs and terminals: one line of printable
 * ASCII. What is not becomes '?'. No blanks at the end. In place.
 */
void text_clean(char *text);

#endif
