/** One thing that a user asks for, in small numbers: users, prisms and entries are counted from 0. */
export type Step =
  | {
      readonly kind: 'create';
      readonly user: number;
      readonly salt: number;
      readonly sponsored: bigint;
      readonly fee: bigint;
    }
  | {
      readonly kind: 'createWithData';
      readonly user: number;
      readonly salt: number;
      readonly sponsored: bigint;
      readonly fee: bigint;
      readonly ids: readonly number[];
    }
  | {
      readonly kind: 'write' | 'modify';
      readonly user: number;
      readonly prism: number;
      readonly id: number;
      readonly bytes: number;
      readonly fee: bigint;
    }
  | {
      readonly kind: 'delete';
      readonly user: number;
      readonly prism: number;
      readonly id: number;
      readonly fee: bigint;
    }
  | { readonly kind: 'offer'; readonly user: number; readonly prism: number; readonly to: number; readonly fee: bigint }
  | { readonly kind: 'accept' | 'end'; readonly user: number; readonly prism: number; readonly fee: bigint }
  | {
      readonly kind: 'batchWrite' | 'batchDelete';
      readonly user: number;
      readonly prism: number;
      readonly ids: readonly number[];
      readonly fee: bigint;
    };

/** A step of which the Forwarder is a part, too. */
export interface SignedStep {
  readonly step: Step;
  /** What is added to the right nonce when it is signed: 0 is right. */
  readonly nonceOffset: number;
}

interface ModelPrism {
  owner: number;
  pending: number | undefined;
  balance: bigint;
  deleted: boolean;
  /** Credits of the relayer that created it. */
  readonly sponsored: bigint;
  /** Length of the payload by entry. */
  readonly entries: Map<number, number>;
}

/** What the chain should hold: the contracts' rules, told once more in a few lines. */
export interface CloudModel {
  readonly nonces: number[];
  readonly prisms: Map<number, ModelPrism>;
  /** Credits of the users themselves: what deleted prisms gave back. */
  readonly refunds: bigint[];
  relayerEarned: bigint;
  treasuryEarned: bigint;
  sponsored: bigint;
}

export const MODEL_USERS = 3;
export const SALTS = 2;
/** Number of the prism that a user makes with a salt. */
export const prismNumber = (user: number, salt: number): number => user * SALTS + salt;

export function createCloudModel(): CloudModel {
  const each = <T>(value: T) => Array.from({ length: MODEL_USERS }, () => value);
  return {
    nonces: each(0),
    prisms: new Map(),
    refunds: each(0n),
    relayerEarned: 0n,
    treasuryEarned: 0n,
    sponsored: 0n,
  };
}

/** Whether entries can be written, replaced or removed one after the other; if so, does it. */
function applyEntries(
  entries: Map<number, number>,
  ids: readonly number[],
  bytes: number | undefined,
  present: boolean,
): boolean {
  if (ids.length === 0) return false;
  const after = new Map(entries);
  for (const id of ids) {
    if (after.has(id) !== present) return false;
    if (bytes === undefined) after.delete(id);
    else after.set(id, bytes);
  }
  entries.clear();
  for (const [id, length] of after) entries.set(id, length);
  return true;
}

const PAYING: ReadonlySet<Step['kind']> = new Set(['write', 'modify', 'batchWrite', 'createWithData']);

function applyCreation(model: CloudModel, step: Extract<Step, { salt: number }>, due: bigint): boolean {
  const number = prismNumber(step.user, step.salt);
  if (model.prisms.has(number) || step.sponsored < due) return false;
  const entries = new Map<number, number>();
  if (step.kind === 'createWithData' && !applyEntries(entries, step.ids, 1, false)) return false;
  const balance = step.sponsored - due;
  const { sponsored } = step;
  model.prisms.set(number, { owner: step.user, pending: undefined, balance, deleted: false, sponsored, entries });
  model.sponsored += step.sponsored;
  return true;
}

/** What is left goes back to the sponsor, up to what it gave, and then to the owner. */
function endPrism(model: CloudModel, prism: ModelPrism, { user, fee }: Step): void {
  const left = prism.balance - fee;
  const returned = [left, prism.sponsored].toSorted((a, b) => (a < b ? -1 : 1))[0]!;
  model.relayerEarned += returned;
  model.refunds[user]! += left - returned;
}

function changePrism(model: CloudModel, prism: ModelPrism, step: Exclude<Step, { salt: number }>): boolean {
  switch (step.kind) {
    case 'write':
      return applyEntries(prism.entries, [step.id], step.bytes, false);
    case 'modify':
      return applyEntries(prism.entries, [step.id], step.bytes, true);
    case 'delete':
      return applyEntries(prism.entries, [step.id], undefined, true);
    case 'batchWrite':
      return applyEntries(prism.entries, step.ids, 1, false);
    case 'batchDelete':
      return applyEntries(prism.entries, step.ids, undefined, true);
    case 'offer':
      prism.pending = step.to;
      return true;
    case 'accept':
      prism.owner = step.user;
      prism.pending = undefined;
      return true;
    case 'end':
      endPrism(model, prism, step);
      prism.deleted = true;
      return true;
  }
}

function applyToPrism(model: CloudModel, step: Exclude<Step, { salt: number }>, due: bigint): boolean {
  const prism = model.prisms.get(step.prism);
  if (prism === undefined || prism.deleted) return false;
  const entitled = step.kind === 'accept' ? prism.pending : prism.owner;
  if (entitled !== step.user || prism.balance < due) return false;
  if (!changePrism(model, prism, step)) return false;
  prism.balance = prism.deleted ? 0n : prism.balance - due;
  return true;
}

/**
 * Carries a step out in the model.
 *
 * @returns whether the chain should do so as well
 */
export function applyStep(model: CloudModel, { step, nonceOffset }: SignedStep, protocolFee: bigint): boolean {
  if (nonceOffset !== 0) return false;
  const due = step.fee + (PAYING.has(step.kind) ? protocolFee : 0n);
  const done = 'salt' in step ? applyCreation(model, step, due) : applyToPrism(model, step, due);
  if (!done) return false;
  model.nonces[step.user]! += 1;
  model.treasuryEarned += due - step.fee;
  return true;
}
