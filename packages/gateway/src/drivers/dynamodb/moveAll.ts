import type { BatchTransition, ClaimTransition } from '../../ports/requestStore.ts';
import type { ParamsReader } from './params.ts';

/** Stands in for the params, which a batch does not answer with: nothing is read. */
export const noParams: Pick<ParamsReader, 'complete'> = {
  complete: async (heads) => heads.map(({ record }) => ({ ...record, paramsJson: '' })),
};

/** Makes the moves of a batch. @returns one a move, in their order @throws DependencyUnavailableError */
export function moveAll<M>(
  moves: readonly M[],
  move: (move: M) => Promise<ClaimTransition>,
): Promise<readonly BatchTransition[]> {
  return Promise.all(
    moves.map(async (one): Promise<BatchTransition> => {
      const transition = await move(one);
      const { outcome } = transition;
      if (outcome === 'missing') return transition;
      const { paramsJson: _, ...record } = transition.record;
      return outcome === 'moved' ? { outcome, record } : { outcome, status: record.status };
    }),
  );
}
