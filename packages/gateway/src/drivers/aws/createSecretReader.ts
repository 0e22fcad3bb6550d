import * as z from 'zod/mini';
import { parseSecretArn, type SecretAddress } from './secretAddress.ts';
import { type Environment, signedPost } from './signedPost.ts';

/** A secret could not be read: it is not there, not ours to read, or its keeper does not answer. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError';
  readonly code = 'SECRET_UNREADABLE';
  /** Whether trying again is of no use. */
  readonly isLasting: boolean;

  constructor(arn: string, why: string, options: { readonly isLasting: boolean; readonly cause?: unknown }) {
    super(`${arn} could not be read: ${why}.`, { cause: options.cause });
    this.isLasting = options.isLasting;
  }
}

/** For one try, in milliseconds; both services answer in tens of them. */
const TIMEOUT_MS = 2000;
/** Tries in all: a function has ten seconds to get ready. */
const MAX_TRIES = 3;
const FIRST_SERVER_ERROR = 500;

const answerForm = z.union([
  z.pipe(
    z.object({ SecretString: z.string() }),
    z.transform(({ SecretString }) => SecretString),
  ),
  z.pipe(
    z.object({ Parameter: z.object({ Value: z.string() }) }),
    z.transform(({ Parameter }) => Parameter.Value),
  ),
]);
const refusalForm = z.object({ __type: z.string() });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error's name as AWS writes it: `…#ResourceNotFoundException`, at times without what stands before. */
function refusalOf(body: unknown): string {
  const refusal = refusalForm.safeParse(body);
  return refusal.success ? (refusal.data.__type.split('#').at(-1) ?? '') : '';
}

/** The service's address, or what is set in its place, as for the AWS SDK. */
function endpointOf({ service, host }: SecretAddress, environment: Environment): URL {
  const name = service === 'ssm' ? 'AWS_ENDPOINT_URL_SSM' : 'AWS_ENDPOINT_URL_SECRETS_MANAGER';
  return new URL(environment[name] || environment.AWS_ENDPOINT_URL || `https://${host}`);
}

function asUnreadable(arn: string, error: unknown): SecretUnreadableError {
  if (error instanceof SecretUnreadableError) return error;
  return new SecretUnreadableError(arn, 'no answer', { isLasting: false, cause: error });
}

/**
 * Makes a reader of secrets by ARN: Secrets Manager's and Systems Manager's, by one signed call each. It takes the credentials
 * that Lambda puts into the environment.
 *
 * @returns reads the text of one secret; throws SecretUnreadableError (`SECRET_UNREADABLE`)
 * @see https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
 * @see https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_GetParameter.html
 */
export function createSecretReader(environment: Environment): (arn: string) => Promise<string> {
  async function readOnce(arn: string, address: SecretAddress): Promise<string> {
    const endpoint = endpointOf(address, environment);
    const { service, region, target, body: question } = address;
    const contentType = 'application/x-amz-json-1.1';
    const call = { service, region, target, body: question, endpoint, contentType, timeoutMs: TIMEOUT_MS } as const;
    const answer = await signedPost(call, environment);
    const body = parseJson(answer.text);
    const secret = answerForm.safeParse(body);
    if (answer.status === 200 && secret.success) return secret.data;
    throw new SecretUnreadableError(arn, `${answer.status} ${refusalOf(body)}`.trim(), {
      isLasting: answer.status < FIRST_SERVER_ERROR && refusalOf(body) !== 'ThrottlingException',
    });
  }

  return async function readSecret(arn) {
    const address = parseSecretArn(arn);
    if (address === undefined) {
      throw new SecretUnreadableError(arn, 'not an ARN of Secrets Manager or Systems Manager', { isLasting: true });
    }
    for (let tries = 1; ; tries++) {
      try {
        return await readOnce(arn, address);
      } catch (error) {
        const failure = asUnreadable(arn, error);
        if (failure.isLasting || tries === MAX_TRIES) throw failure;
      }
    }
  };
}
