/** Bytes of data that each request of the bench writes: an encrypted line or two. */
export const payloadBytes = 128;

/** What each request of the bench offers, in credit-token base units. */
export const relayerFee = 10_000_000_000_000_000n;

/** Chain name of all requests of the bench. */
export const chainName = 'eip155:31337';

/** What differs between the bodies; hex without `0x`, but for the signer's address. */
export interface RequestBodyFields {
  readonly signer: string;
  readonly cloudId: string;
  readonly dataId: string;
  readonly payload: string;
  readonly timestamp: number;
  readonly v: number;
  readonly r: string;
  readonly s: string;
  /** Absent: that of all requests of the bench. */
  readonly chainName?: string;
}

/**
 * Writes the JSON body of one `POST /requests`.
 *
 * @param fields what differs between the bodies
 * @returns JSON text
 */
export function writeRequestBody(fields: RequestBodyFields): string {
  return `{"chainName":"${fields.chainName ?? chainName}","action":"WRITE_DATA_FOR","params":{"cloudId":"0x${fields.cloudId}","dataId":"0x${fields.dataId}","payload":"0x${fields.payload}","relayerFee":"${relayerFee}","timestamp":"${fields.timestamp}","signer":"${fields.signer}","v":${fields.v},"r":"0x${fields.r}","s":"0x${fields.s}"}}`;
}
