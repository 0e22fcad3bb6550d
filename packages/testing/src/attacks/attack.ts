/** The target: an installation that the attacker knows by its address alone. */
export interface AttackTarget {
  /** Its base, without a path. */
  readonly url: URL;
  /** How many connections one attack opens. */
  readonly connections: number;
  /** Addresses of this machine that connections come from, in turn; none: the system chooses. */
  readonly addresses: readonly string[];
}

/** The attack's figures so far. */
export interface AttackState {
  /** Connections that were tried. */
  readonly tried: number;
  /** Connections that the target has not ended yet. */
  readonly open: number;
  /** Bytes that were sent. */
  readonly sentBytes: number;
  /** Answers by status, of those that were read. */
  readonly answers: ReadonlyMap<number, number>;
}

/** An attack that goes on until it is stopped. */
export interface RunningAttack {
  state(): AttackState;
  /** Ends all its connections. */
  stop(): Promise<void>;
}

/** One way to wear an installation down without a key. */
export interface Attack {
  /** In one sentence. */
  readonly summary: string;
  /** Resolves once all connections were tried. */
  start(target: AttackTarget): Promise<RunningAttack>;
}
