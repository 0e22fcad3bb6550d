import fc from 'fast-check';

/** A call before its record, relayer and times are known: all are numbers that the run looks up. */
export interface PlannedCall {
  readonly kind:
    | 'create'
    | 'createAgain'
    | 'claim'
    | 'claimTwice'
    | 'renew'
    | 'release'
    | 'report'
    | 'reportTwice'
    | 'get'
    | 'list';
  /** Which of the records that were made so far, the newest first. */
  readonly record: number;
  readonly relayer: number;
  /** Which signer, chain and status. */
  readonly signer: number;
  readonly chain: number;
  readonly status: number;
  /** How far the clock of the process that makes the call is ahead, in milliseconds. */
  readonly skewMs: number;
  /** Age in milliseconds from which a claim may be taken over; absent: never. */
  readonly leaseMs: number | undefined;
  readonly succeeds: boolean;
  /** Which handle on the store makes the call. */
  readonly process: number;
  /** Turns of the event loop that the call comes later than the others of its step. */
  readonly turns: number;
}

/** Calls made at the same time, after the clock went on. */
export interface PlannedStep {
  readonly advanceMs: number;
  readonly calls: readonly PlannedCall[];
}

const callArbitrary: fc.Arbitrary<PlannedCall> = fc.record({
  kind: fc.oneof(
    { weight: 4, arbitrary: fc.constant('create' as const) },
    { weight: 6, arbitrary: fc.constant('claim' as const) },
    { weight: 5, arbitrary: fc.constant('report' as const) },
    { weight: 4, arbitrary: fc.constantFrom('renew' as const, 'release' as const) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        'createAgain' as const,
        'claimTwice' as const,
        'reportTwice' as const,
        'get' as const,
        'list' as const,
      ),
    },
  ),
  // Mostly the newest ones, so that calls meet.
  record: fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 1 }) }, { weight: 1, arbitrary: fc.nat({ max: 30 }) }),
  relayer: fc.nat({ max: 2 }),
  signer: fc.nat({ max: 2 }),
  chain: fc.nat({ max: 1 }),
  status: fc.nat({ max: 3 }),
  skewMs: fc.nat({ max: 3 }),
  leaseMs: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  succeeds: fc.boolean(),
  process: fc.nat({ max: 1 }),
  turns: fc.nat({ max: 3 }),
});

/** Runs of a queue: steps of one to six calls at the same time. */
export const stepsArbitrary: fc.Arbitrary<PlannedStep[]> = fc.array(
  fc.record({ advanceMs: fc.nat({ max: 12 }), calls: fc.array(callArbitrary, { minLength: 1, maxLength: 6 }) }),
  { minLength: 1, maxLength: 16, size: 'max' },
);
