import ipaddr from 'ipaddr.js';

/**
 * Class of an address. `public` may always be called; `local` if its name or range is allowed; `metadata` (hands out a
 * cloud machine's credentials) only if exactly this address is allowed; `special` if its range is allowed.
 */
export type AddressKind = 'public' | 'local' | 'metadata' | 'special';

export interface ClassifiedAddress {
  readonly kind: AddressKind;
  /** Readable name of its range: `loopback`, `private`, `linkLocal`, … */
  readonly range: string;
}

type Address = ReturnType<typeof ipaddr.parse>;
type Range = readonly [Address, number];

/**
 * Metadata services of clouds (AWS EC2, ECS and EKS, Google, Azure, Alibaba, Oracle). Some lie in public ranges.
 */
const METADATA = new Set(
  [
    '169.254.169.254',
    '169.254.170.2',
    '169.254.170.23',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
  ].map((address) => ipaddr.parse(address).toString()),
);

const LOCAL = new Set(['private', 'loopback', 'carrierGradeNat', 'uniqueLocal']);

/** Range of public IPv6 addresses (IANA, IPv6 Global Unicast Address Assignments). */
const GLOBAL_UNICAST: Range = [ipaddr.parse('2000::'), 3];
/** IPv4 addresses embedded in IPv6 by NAT64 gateways (RFC 6052). */
const NAT64: Range = [ipaddr.parse('64:ff9b::'), 96];
const NAT64_PREFIX_BYTES = 12;

/** Classifies an address as a resolver or a socket returns it. */
export function classifyAddress(text: string): ClassifiedAddress {
  const address = parseAddress(text);
  return address ? classify(address) : { kind: 'special', range: 'unreadable' };
}

/** Whether an address lies in a range; IPv4 in IPv6 (`::ffff:10.0.0.1`) counts as IPv4. */
export function isInRange(text: string, range: { readonly address: string; readonly prefix: number }): boolean {
  const address = parseAddress(text);
  return address !== undefined && matches(address, [ipaddr.parse(range.address), range.prefix]);
}

function classify(address: Address): ClassifiedAddress {
  const range: string = address.range();
  if (METADATA.has(address.toString())) return { kind: 'metadata', range: 'metadata' };
  if (matches(address, NAT64)) return classifyNat64(address);
  if (LOCAL.has(range)) return { kind: 'local', range };
  const isPublic = range === 'unicast' && (address.kind() === 'ipv4' || matches(address, GLOBAL_UNICAST));
  return isPublic ? { kind: 'public', range } : { kind: 'special', range: range === 'unicast' ? 'unassigned' : range };
}

/** A NAT64 gateway forwards to the embedded IPv4 address; a private one belongs to the gateway's network. */
function classifyNat64(address: Address): ClassifiedAddress {
  const inner = classify(ipaddr.fromByteArray(address.toByteArray().slice(NAT64_PREFIX_BYTES)));
  return inner.kind === 'public' ? inner : { kind: 'special', range: `NAT64 of ${inner.range}` };
}

/** Ignores the zone (`%eth0`), which names an interface, not a destination. */
function parseAddress(text: string): Address | undefined {
  const [plain = ''] = text.split('%');
  return ipaddr.isValid(plain) ? ipaddr.process(plain) : undefined;
}

function matches(address: Address, [network, prefix]: Range): boolean {
  return address.kind() === network.kind() && address.match(network, prefix);
}
