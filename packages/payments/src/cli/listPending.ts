import type { FrontendClient } from '../frontend/createFrontendClient.ts';
import { FrontendError } from '../frontend/FrontendError.ts';
import { UnreachedError } from './UnreachedError.ts';

function toUnreached(error: FrontendError): UnreachedError {
  const seen = error.message.replace(/\.$/, '');
  switch (error.code) {
    case 'FRONTEND_UNAVAILABLE':
      return new UnreachedError({
        seen: `The frontend does not answer: ${seen}`,
        setting: 'FRONTEND_URL',
        act: 'see whether it is up',
      });
    case 'FRONTEND_REFUSED':
      return new UnreachedError({
        seen: `The frontend refuses the call: ${seen}`,
        setting: 'FRONTEND_URL',
        act: 'compare it, and RELAYER_SECRET, with the frontend',
      });
    case 'FRONTEND_NONSENSE':
      return new UnreachedError({
        seen: `What answers is no frontend: ${seen}`,
        setting: 'FRONTEND_URL',
        act: 'compare it with the frontend',
      });
  }
}

/**
 * Asks the frontend what it lists as pending.
 *
 * @param frontend - its client
 * @returns the payments, not looked at
 * @throws UnreachedError `NOT_REACHED`
 */
export async function listPending(frontend: Pick<FrontendClient, 'listPending'>): Promise<readonly unknown[]> {
  try {
    return await frontend.listPending();
  } catch (error) {
    throw error instanceof FrontendError ? toUnreached(error) : error;
  }
}
