/**
 * Partitions of AWS other than the commercial one, by the shape of their regions. GovCloud shares the commercial suffix.
 * From the AWS SDK's `partitions.json`.
 */
const PARTITIONS: ReadonlyArray<readonly [region: RegExp, dnsSuffix: string]> = [
  [/^(cn-\w+-\d+|aws-cn-global)$/, 'amazonaws.com.cn'],
  [/^eusc-de-\w+-\d+$/, 'amazonaws.eu'],
  [/^(us-iso-\w+-\d+|aws-iso-global)$/, 'c2s.ic.gov'],
  [/^(us-isob-\w+-\d+|aws-iso-b-global)$/, 'sc2s.sgov.gov'],
  [/^(eu-isoe-\w+-\d+|aws-iso-e-global)$/, 'cloud.adc-e.uk'],
  [/^(us-isof-\w+-\d+|aws-iso-f-global)$/, 'csp.hci.ic.gov'],
];

/**
 * The domain under which a region's AWS services live.
 *
 * @param region for example `eu-central-1`
 * @returns for example `amazonaws.com`; an unknown region counts as commercial, as in the AWS SDK
 */
export function findDnsSuffix(region: string): string {
  return PARTITIONS.find(([shape]) => shape.test(region))?.[1] ?? 'amazonaws.com';
}
