/** A service that keeps secrets, and how it is asked for one. */
export interface SecretAddress {
  readonly service: 'secretsmanager' | 'ssm';
  readonly region: string;
  /** Host of the service in the ARN's partition. */
  readonly host: string;
  /** The JSON protocol's name of the operation. */
  readonly target: string;
  readonly body: string;
}

const arnForm = /^arn:(aws[a-z-]*):(secretsmanager|ssm):([a-z0-9-]+):\d{12}:(secret:|parameter\/)[\w/+=.@-]+$/;

/** Domains of AWS's partitions. From the AWS SDK's `partitions.json`. */
const suffixOf: Readonly<Record<string, string>> = {
  aws: 'amazonaws.com',
  'aws-us-gov': 'amazonaws.com',
  'aws-cn': 'amazonaws.com.cn',
  'aws-eusc': 'amazonaws.eu',
  'aws-iso': 'c2s.ic.gov',
  'aws-iso-b': 'sc2s.sgov.gov',
  'aws-iso-e': 'cloud.adc-e.uk',
  'aws-iso-f': 'csp.hci.ic.gov',
};

/** Which kind of resource each service has. */
const kindOf = { secretsmanager: 'secret:', ssm: 'parameter/' } as const;

/**
 * Reads the ARN of a secret of Secrets Manager or of a parameter of Systems Manager.
 *
 * @returns undefined for any other text
 * @see https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
 */
export function parseSecretArn(arn: string): SecretAddress | undefined {
  const [, partition = '', service, region = '', kind] = arnForm.exec(arn) ?? [];
  if (service !== 'secretsmanager' && service !== 'ssm') return undefined;
  const suffix = suffixOf[partition];
  if (kind !== kindOf[service] || suffix === undefined) return undefined;
  const host = `${service}.${region}.${suffix}`;
  return service === 'ssm'
    ? {
        service,
        region,
        host,
        target: 'AmazonSSM.GetParameter',
        body: JSON.stringify({ Name: arn, WithDecryption: true }),
      }
    : { service, region, host, target: 'secretsmanager.GetSecretValue', body: JSON.stringify({ SecretId: arn }) };
}
