import { randomBytes } from 'node:crypto';

/** The part of the gateway's signer that is measured. */
interface PutSigner {
  sign(order: {
    readonly operation: 'put';
    readonly objectPath: string;
    readonly contentSha256: string;
    readonly nowMs: number;
    readonly lifetimeSeconds: number;
  }): Promise<unknown>;
}

const lifetimeSeconds = 60;

/**
 * Measures the gateway's signer alone, without HTTP, tokens or checks: what the official presigner does.
 *
 * @param signer the signer for S3
 * @param count how many
 * @returns presigned URLs a second
 */
export async function measureOwnSigner(signer: PutSigner, count: number): Promise<number> {
  const orders = Array.from({ length: count }, () => {
    const contentSha256 = randomBytes(32).toString('hex');
    const objectPath = `v1/${randomBytes(32).toString('hex')}/${randomBytes(16).toString('hex')}/${contentSha256}`;
    return { operation: 'put', objectPath, contentSha256, lifetimeSeconds } as const;
  });
  const startedAt = performance.now();
  for (const order of orders) await signer.sign({ ...order, nowMs: Date.now() });
  return (count / (performance.now() - startedAt)) * 1000;
}
