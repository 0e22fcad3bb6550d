import { Fn } from 'aws-cdk-lib';
import { type Alias, FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';

/** Where the function is called: by clients, or by the edge in front of it. */
export interface FunctionAddress {
  readonly url: string;
  readonly host: string;
}

/**
 * Gives the function an address of its own. Behind an edge the function answers 403 to calls without the origin secret: CloudFront could
 * sign its calls instead, but of a body only the client could say the hash, which no client of HTTP does.
 *
 * @see docs/adr/0013-function-url.md
 */
export function addFunctionUrl(alias: Alias): FunctionAddress {
  const { url } = alias.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
  // Of https://{host}/.
  const host = Fn.select(2, Fn.split('/', url));
  return { url: `https://${host}`, host };
}
