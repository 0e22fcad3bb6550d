import { expect, it } from 'vitest';
import { parseSecretArn } from './secretAddress.ts';

it.each([
  ['arn:aws:ssm:eu-west-1:123456789012:parameter/a', 'ssm.eu-west-1.amazonaws.com'],
  ['arn:aws-us-gov:secretsmanager:us-gov-west-1:123456789012:secret:a', 'secretsmanager.us-gov-west-1.amazonaws.com'],
  ['arn:aws-cn:ssm:cn-north-1:123456789012:parameter/a/b', 'ssm.cn-north-1.amazonaws.com.cn'],
  ['arn:aws-eusc:ssm:eusc-de-east-1:123456789012:parameter/a', 'ssm.eusc-de-east-1.amazonaws.eu'],
  ['arn:aws-iso-b:ssm:us-isob-east-1:123456789012:parameter/a', 'ssm.us-isob-east-1.sc2s.sgov.gov'],
])('%s is kept at %s', (arn, host) => {
  expect(parseSecretArn(arn)).toMatchObject({ host });
});

it('a partition that nobody knows has no address', () => {
  expect(parseSecretArn('arn:aws-moon:ssm:moon-1:123456789012:parameter/a')).toBeUndefined();
});
