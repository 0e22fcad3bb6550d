import type { Journal } from '../journal/openJournal.ts';
import type { ExceededBudget, Loss, Stake } from './loss.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * Divides the budgets of a code, an hour and a day: untrusted signers may use one part, the rest is kept for those who have paid more than
 * their requests have cost. So untrusted signers alone can neither have a relayer stop, nor have it leave those alone whose wallets are of
 * the same code as theirs. And what somebody has paid is its own: up to that its requests are at stake whatever was lost to others.
 */
const UNTRUSTED_SHARE = 2n;

/** Limits of one chain on losses, in wei, and on gifts, in base units of credits. */
export interface LossLimits {
  readonly requestWei: bigint;
  /** To one signer in a day. */
  readonly signerWei: bigint;
  /** To all contract wallets of one code in a day. */
  readonly codeWei: bigint;
  readonly hourWei: bigint;
  readonly dayWei: bigint;
  /** To one signer in a day. */
  readonly signerGifts: bigint;
  readonly dayGifts: bigint;
}

/** Who is behind a request. */
export interface Party {
  readonly requestId: string;
  /** Those who have signed it, in lower case, and the hash of their code if they are contract wallets. */
  readonly signatures: readonly { readonly signer: string; readonly code?: string | undefined }[];
}

/** A relayer's losses, and whom it therefore leaves alone. */
export type Budgets = ReturnType<typeof createBudgets>;

/** One budget that counts for a party. */
interface Account {
  readonly budget: ExceededBudget['budget'];
  readonly party: string;
  readonly limit: bigint;
  readonly windowMs: number;
  readonly counts: (one: Pick<Loss, 'requestId' | 'signers' | 'codes'>) => boolean;
  readonly amount: (one: Stake) => bigint;
}

const wei = (one: Stake) => one.wei;
const gift = (one: Stake) => one.gift;
const ANY = () => true;

function describe(party: Party): Pick<Loss, 'requestId' | 'signers' | 'codes'> {
  const { requestId, signatures } = party;
  const codes = signatures.flatMap(({ code }) => (code === undefined ? [] : [code]));
  return { requestId, signers: signatures.map(({ signer }) => signer), codes };
}

/** The budgets of wei that a party shares with others. */
function listShared(
  limits: LossLimits,
  { codes, share }: { readonly codes: readonly string[]; readonly share: bigint },
) {
  const own = { windowMs: DAY_MS, amount: wei };
  return [
    ...codes.map((code): Account => {
      const counts: Account['counts'] = (one) => one.codes.includes(code);
      return { ...own, budget: 'code', party: code, limit: limits.codeWei / share, counts };
    }),
    { ...own, budget: 'hour', party: '', limit: limits.hourWei / share, windowMs: HOUR_MS, counts: ANY },
    { ...own, budget: 'day', party: '', limit: limits.dayWei / share, counts: ANY },
  ] satisfies Account[];
}

/** The budgets that count for a party; those of gifts only if it asks for one. */
function listAccounts(
  limits: LossLimits,
  party: Party,
  options: { isKnownPayer: boolean; isCovered: boolean; asksGift: boolean },
): Account[] {
  const { requestId, signers, codes } = describe(party);
  const share = options.isKnownPayer ? 1n : UNTRUSTED_SHARE;
  const own = { windowMs: DAY_MS, amount: wei };
  const gifts = { windowMs: DAY_MS, amount: gift };
  return [
    {
      ...own,
      budget: 'request',
      party: requestId,
      limit: limits.requestWei,
      counts: (one) => one.requestId === requestId,
    },
    ...signers.flatMap((signer): Account[] => {
      const counts: Account['counts'] = (one) => one.signers.includes(signer);
      const asGift = { ...gifts, budget: 'signerGifts', party: signer, limit: limits.signerGifts, counts } as const;
      const account = { ...own, budget: 'signer', party: signer, limit: limits.signerWei, counts } as const;
      return [...(options.isCovered ? [] : [account]), ...(options.asksGift ? [asGift] : [])];
    }),
    ...(options.isCovered ? [] : listShared(limits, { codes, share })),
    ...(options.asksGift
      ? [{ ...gifts, budget: 'dayGifts', party: '', limit: limits.dayGifts, counts: ANY } as const]
      : []),
  ];
}

/**
 * Keeps what is lost within bounds, over restarts: to a request, to a signer, to all wallets of one code, in an hour, and in a day.
 *
 * A loss is what a transaction has cost beyond what its fees were worth: a revert, a cancel, a refused entry of a batch, a wallet that
 * used more gas than it had said.
 *
 * @param options.onExceeded - notified of each budget that is used up, once until it is free again
 */
export function createBudgets(options: {
  readonly journal: Journal;
  readonly limits: LossLimits;
  readonly now: () => number;
  readonly onExceeded: (exceeded: ExceededBudget) => void;
}) {
  const { journal, limits, now, onExceeded } = options;
  let losses: readonly Loss[] = journal.losses(now() - DAY_MS);
  const stakes = new Map<string, Stake & ReturnType<typeof describe>>();
  const reported = new Map<string, ExceededBudget>();

  function fresh(windowMs: number): readonly Loss[] {
    const nowMs = now();
    if (losses.some(({ atMs }) => atMs <= nowMs - DAY_MS)) losses = losses.filter(({ atMs }) => atMs > nowMs - DAY_MS);
    return windowMs === DAY_MS ? losses : losses.filter(({ atMs }) => atMs > nowMs - windowMs);
  }

  function report(exceeded: ExceededBudget): void {
    const key = `${exceeded.budget} ${exceeded.party}`;
    const before = reported.get(key);
    reported.set(key, exceeded);
    if (before === undefined || before.untilMs <= now()) onExceeded(exceeded);
  }

  /** A limit of nothing is used up by nothing. */
  function measure({ budget, party, limit, windowMs, counts, amount }: Account): ExceededBudget | undefined {
    const own = fresh(windowMs).filter((loss) => amount(loss) > 0n && counts(loss));
    const lost = own.reduce((sum, loss) => sum + amount(loss), 0n);
    if (lost < limit) return undefined;
    return { budget, party, lost, limit, untilMs: (own[0]?.atMs ?? now()) + windowMs };
  }

  /** The least that any of those who have signed it has paid net, beyond what is at stake with others of its requests. */
  function findLeft(party: Party): bigint {
    const lefts = party.signatures.map(({ signer }) => {
      const open = [...stakes.values()].filter(({ requestId, signers }) => {
        return requestId !== party.requestId && signers.includes(signer);
      });
      return open.reduce((left, stake) => left - stake.wei, journal.paidNet(signer));
    });
    return lefts.toSorted((one, other) => (one < other ? -1 : 1))[0] ?? 0n;
  }

  /** @param stake - what is at stake with it, in wei; at first that is not known */
  function accountsOf(party: Party, { asksGift, stake = 1n }: { asksGift: boolean; stake?: bigint }): Account[] {
    const isKnownPayer = party.signatures.every(({ signer }) => journal.paidNet(signer) > 0n);
    return listAccounts(limits, party, { isKnownPayer, isCovered: findLeft(party) >= stake, asksGift });
  }

  const staked = ({ counts, amount }: Account) =>
    [...stakes.values()].filter(counts).reduce((sum, stake) => sum + amount(stake), 0n);

  /** Whether no budget would be exceeded if a request were lost, and all that is under way with it. */
  function canHold(party: Party, stake: Stake): boolean {
    return accountsOf(party, { asksGift: stake.gift > 0n, stake: stake.wei }).every((account) => {
      const lost = fresh(account.windowMs)
        .filter(account.counts)
        .reduce((sum, loss) => sum + account.amount(loss), 0n);
      const open = staked(account);
      // The first one may always go: what is lost is bounded by the budget and one request.
      return lost < account.limit && (open === 0n || lost + open + account.amount(stake) <= account.limit);
    });
  }

  return {
    /** @returns the budget that speaks against a request; undefined if none does */
    findExceeded(party: Party, wanted = 0n): ExceededBudget | undefined {
      for (const account of accountsOf(party, { asksGift: wanted > 0n })) {
        const exceeded = measure(account);
        if (exceeded === undefined) continue;
        report(exceeded);
        return exceeded;
      }
      return undefined;
    },
    canHold,
    /** Sets aside what is at stake with a request, if it can be. @returns whether it is */
    hold(party: Party, stake: Stake): boolean {
      if (!canHold(party, stake)) return false;
      stakes.set(party.requestId, { ...describe(party), ...stake });
      return true;
    },
    /** Sets aside what is at stake with a request that is under way already. */
    resume: (party: Party, stake: Stake): void => void stakes.set(party.requestId, { ...describe(party), ...stake }),
    release: (requestId: string): void => void stakes.delete(requestId),
    /** Notes losses; on the disk with the journal's next commit. */
    addLosses(more: readonly Loss[]): void {
      const real = more.filter((loss) => loss.wei > 0n || loss.gift > 0n);
      if (real.length === 0) return;
      losses = [...losses, ...real];
      journal.addLosses(real);
    },
    /** Notes what a request has paid beyond its cost, in wei. */
    addPaid: journal.addPaid,
    /** Whether a signer has paid more than its requests have cost. */
    isKnownPayer: (signer: string): boolean => journal.paidNet(signer.toLowerCase()) > 0n,
    /** Losses and used-up budgets, for people to read. */
    summary() {
      const sum = (windowMs: number) => fresh(windowMs).reduce((total, loss) => total + loss.wei, 0n);
      const exceeded = [...reported.values()].filter(({ untilMs }) => untilMs > now());
      return { hourWei: sum(HOUR_MS), dayWei: sum(DAY_MS), exceeded };
    },
  };
}
