import { generateKeyPairSync, sign } from 'node:crypto';

export interface ServerCertificate {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
}

const OIDS = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
};
const DAY_MS = 86_400_000;

/**
 * A self-signed certificate (RFC 5280): only clients that add it to their trusted certificates accept it.
 * @param names hosts of the certificate
 * @param days validity in days; negative for an expired certificate
 */
export function selfSignedCertificate(names: readonly string[], days = 1): ServerCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = sequence(oid('ecdsaWithSha256'));
  const name = sequence(der(0x31, sequence(oid('commonName'), der(0x0c, Buffer.from(names[0]!)))));
  const alternatives = sequence(...names.map((host) => der(0x82, Buffer.from(host))));
  const authority = sequence(der(0x01, Buffer.from([0xff])));
  const now = Date.now();
  const content = sequence(
    der(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(time(now - 2 * DAY_MS), time(now + days * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension('subjectAltName', alternatives), extension('basicConstraints', authority))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, privateKey));
  const lines = sequence(content, algorithm, signature)
    .toString('base64')
    .match(/.{1,64}/g)!;
  return {
    cert: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

/** A value in DER (X.690): its tag, its length, its content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function oid(name: keyof typeof OIDS): Buffer {
  return der(0x06, Buffer.from(OIDS[name], 'hex'));
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replaceAll(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function extension(name: keyof typeof OIDS, value: Buffer): Buffer {
  return sequence(oid(name), der(0x04, value));
}
