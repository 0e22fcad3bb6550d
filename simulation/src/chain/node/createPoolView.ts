import type { Address, Hash } from 'viem';
import type { PoolEntry } from '../pool/createPool.ts';
import type { BlockRecord, SignedTransaction } from '../records.ts';
import type { NodePorts, NodeView } from './ports.ts';

interface Waiting {
  /** In the order of an account's nonces. */
  readonly pending: readonly SignedTransaction[];
  /** Behind a gap. */
  readonly queued: readonly SignedTransaction[];
}

/** The transactions that wait for a block, as a node shows them. */
export interface PoolView {
  all(view: NodeView): Waiting;
  of(view: NodeView, address: Address): Waiting;
  find(view: NodeView, hash: Hash): SignedTransaction | undefined;
}

const signedOf = ({ signed }: { readonly signed: SignedTransaction }) => signed;

export function createPoolView({ pool, branches }: Pick<NodePorts, 'pool' | 'branches'>): PoolView {
  /** Whether a transaction came through this node, or is shown whoever has it. */
  const isShown = ({ faults, name, own }: NodeView, { node, hash }: { readonly node?: string; readonly hash: Hash }) =>
    faults.poolView === 'all' || (faults.poolView !== 'none' && (node === name || own.has(hash)));

  /** What blocks hold that this node has not seen: its pool follows its own head. */
  function minedAhead(view: NodeView): readonly SignedTransaction[] {
    const ahead: SignedTransaction[] = [];
    let block: BlockRecord | undefined = branches.head();
    for (; block !== undefined && block.number > view.head.number; block = block.parent)
      ahead.unshift(...block.transactions.map(signedOf));
    return ahead.filter((signed) => isShown(view, signed));
  }

  function select(view: NodeView, entries: readonly PoolEntry[], ahead: readonly SignedTransaction[]): Waiting {
    const shown = entries.filter((entry) => isShown(view, entry));
    return {
      pending: [...ahead, ...shown.filter(pool.isPending).map(signedOf)],
      queued: shown.filter((entry) => !pool.isPending(entry)).map(signedOf),
    };
  }

  return {
    all: (view) => select(view, pool.list(), minedAhead(view)),
    of(view, address) {
      const ahead = minedAhead(view).filter(({ from }) => from === address);
      return select(view, pool.of(address), ahead);
    },
    find(view, hash) {
      const entry = pool.get(hash);
      if (entry !== undefined && isShown(view, entry)) return entry.signed;
      return view.own.get(hash) ?? minedAhead(view).find((signed) => signed.hash === hash);
    },
  };
}
