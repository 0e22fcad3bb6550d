import type { BenchContext } from '../benchContext.ts';
import { startGateway } from '../processes/startGateway.ts';
import { createKeyPair } from '../signing/createKeyPair.ts';
import { loadSigningCrypto } from '../signing/loadSigningCrypto.ts';
import { alternate } from './alternate.ts';
import type { ResultRow } from './measureResult.ts';

const relayerCount = 100;

/**
 * Measures how many claims are lost to rivals where many relayers follow the feed of one queue and claim its oldest in batches.
 *
 * @param context the bench
 * @returns one row
 */
export async function measureRace(context: BenchContext): Promise<ResultRow[]> {
  const crypto = await loadSigningCrypto();
  const relayers = Array.from({ length: relayerCount }, () => createKeyPair(crypto));
  const gateway = await startGateway({ ...context, relayers }, { MAX_OPEN_CLAIMS: '0' });
  const perSecond: number[] = [];
  const lost = async () => {
    const result = await context.load.call('race', { port: gateway.port, relayers, posts: context.scale.racedPosts });
    perSecond.push((result.won / result.elapsedMs) * 1000);
    return result.lost / result.won;
  };
  const figures = await alternate(context.options.runs, { lost });
  const shown = perSecond.map((rate) => rate.toFixed(0)).join(', ');
  return [
    {
      title: `409s and conflicts a won claim, ${relayerCount} relayers by feed and batch claim`,
      unit: 'a claim',
      values: figures.lost,
      target: { of: 'value', is: 'at most', bound: 0.05 },
      notes: [`${context.scale.racedPosts} requests a run, each claimed once; posted and claimed a second: ${shown}`],
    },
  ];
}
