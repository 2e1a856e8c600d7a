// An all-reduce in one step, for few elements: each rank writes its elements where all others can read them (peer access),
// signals them, waits for their signals, and adds up what they wrote. Every rank adds in the order of the ranks, so all
// have the same bits.
//
// A rank has a mailbox of two halves, which launches use in turn: a half is written again when all ranks have begun the
// launch between, and so have ended the one before. Signals are counted for each program: the counters of a rank are in
// the first half of its signals, how often it was launched in the second half, so a recorded launch can be repeated.
#pragma once

// Elements that a program takes: 16 bytes for each thread of 8 warps. Most programs of a launch: 1 MiB.
#define BN (BYTES / sizeof(TYPE))
#define PROGRAMS 256
#define CAPACITY (BN * PROGRAMS)

// How often this program was launched before.
int epoch_of(int *Signals, int p) {
  return *(Signals + PROGRAMS + p);
}

// This rank's elements, where the others find them.
void post(TYPE *Mailbox, TYPE *X, int at, int N, int p) {
  int i[BN] = p * BN + 0 ... BN;
  *?(i < N) (Mailbox + at + i) = *?(i < N) (X + i);
}

// Tells the ranks that this one has posted: their signals in one step, each by a lane of its own.
void signal_two(int *S0, int *S1, int p) {
  int rank[2] = 0 ... 2;
  int *to[2] = (int *)(rank == 0 ? (long)S0 : (long)S1);
  atomic_add(to + p, (int[2])1, "release", "sys");
}

void signal_four(int *S0, int *S1, int *S2, int *S3, int p) {
  int rank[4] = 0 ... 4;
  int *to[4] = (int *)(rank < 2 ? (rank == 0 ? (long)S0 : (long)S1) : (rank == 2 ? (long)S2 : (long)S3));
  atomic_add(to + p, (int[4])1, "release", "sys");
}

// Waits until all ranks have signalled this epoch. The difference is right also where the counter has wrapped.
void wait_for(int *Signals, int ranks, int epoch, int p) {
  while (atomic_add(Signals + p, 0, "acquire", "sys") - ranks * (epoch + 1) < 0) {}
  *(Signals + PROGRAMS + p) = epoch + 1;
}

// Y = the sum of X of two ranks, for program p of rank `rank`. M are the mailboxes, S the signals of the ranks.
void sum_of_two(TYPE *X, TYPE *Y, TYPE *M0, TYPE *M1, int *S0, int *S1, int N, int rank, int p) {
  int *Signals = rank == 0 ? S0 : S1;
  int epoch = epoch_of(Signals, p);
  int at = (epoch & 1) * CAPACITY;
  post(rank == 0 ? M0 : M1, X, at, N, p);
  signal_two(S0, S1, p);
  wait_for(Signals, 2, epoch, p);
  int i[BN] = p * BN + 0 ... BN;
  float x0[BN] = *?(i < N) (M0 + at + i);
  float x1[BN] = *?(i < N) (M1 + at + i);
  *?(i < N) (Y + i) = x0 + x1;
}

// The same of four ranks.
void sum_of_four(TYPE *X, TYPE *Y, TYPE *M0, TYPE *M1, TYPE *M2, TYPE *M3, int *S0, int *S1, int *S2,
                 int *S3, int N, int rank, int p) {
  int *Signals = rank < 2 ? (rank == 0 ? S0 : S1) : (rank == 2 ? S2 : S3);
  int epoch = epoch_of(Signals, p);
  int at = (epoch & 1) * CAPACITY;
  post(rank < 2 ? (rank == 0 ? M0 : M1) : (rank == 2 ? M2 : M3), X, at, N, p);
  signal_four(S0, S1, S2, S3, p);
  wait_for(Signals, 4, epoch, p);
  int i[BN] = p * BN + 0 ... BN;
  float x0[BN] = *?(i < N) (M0 + at + i);
  float x1[BN] = *?(i < N) (M1 + at + i);
  float x2[BN] = *?(i < N) (M2 + at + i);
  float x3[BN] = *?(i < N) (M3 + at + i);
  *?(i < N) (Y + i) = x0 + x1 + x2 + x3;
}
