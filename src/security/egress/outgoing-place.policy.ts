import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { OutgoingTarget } from '../../config/index.js';
import type { SecurityConfig } from '../../config/namespaces/index.js';
import type { AppError } from '../../errors/index.js';
import { withoutTrailing } from '../../kernel/json/index.js';
import { refused } from './outgoing.error.js';
import type { OutgoingPlace } from './outgoing.types.js';

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

/** The rules of the configuration; without `proxy` every connection is direct. */
export type OutgoingRules = Omit<SecurityConfig['outgoing'], 'proxy'> &
  Partial<Pick<SecurityConfig['outgoing'], 'proxy'>>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const ALLOWING = 'an operator can allow it with OUTGOING_ALLOW';
const LEADING = 'a redirect from another origin is followed there only if OUTGOING_ALLOW names its host and port';

/** Decides which hosts and addresses may be called. Checks a URL, its resolved addresses and the connected address. */
export class OutgoingPlacePolicy {
  constructor(
    private readonly rules: OutgoingRules,
    private readonly isOfRedirects = false,
  ) {}

  /**
   * The policy for redirects from another origin: entries of OUTGOING_ALLOW that cover a range, many names or any port
   * apply to configured calls only, not to a destination that another server chose.
   */
  ofRedirects(): OutgoingPlacePolicy {
    return new OutgoingPlacePolicy({ ...this.rules, allow: this.rules.allow.filter(isOnePlace) }, true);
  }

  /** The proxies of the environment, if any. */
  get proxy(): OutgoingRules['proxy'] {
    return this.rules.proxy;
  }

  /**
   * With a proxy: checks the addresses that this machine knows for the host, since no connection will show the address.
   * A name that only the proxy can resolve passes.
   * @throws AppError `OUTGOING_REFUSED`; the signal's reason if it is aborted during the lookup
   */
  async checkLookup(url: URL, lookup: LookupFunction, signal?: AbortSignal | null): Promise<void> {
    const place = placeOf(url);
    if (!this.proxy || isIP(place.host)) return;
    const addresses = await new Promise<readonly LookupAddress[]>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      lookup(place.host, { all: true }, (error, found) => resolve(!error && Array.isArray(found) ? found : []));
    });
    const fault = addresses.map(({ address }) => this.addressFault(place, address)).find((wrong) => wrong);
    if (fault) throw fault;
  }

  /**
   * Checks a URL before name resolution. WHATWG URL parsing has already normalised every notation of an address
   * (`0x7f.1`, `2130706433`, full-width digits). @throws AppError `OUTGOING_REFUSED`
   */
  checkUrl(url: URL): void {
    if (DEFAULT_PORTS[url.protocol] === undefined)
      throw refused(`${url.protocol}// is not supported: use http:// or https://.`);
    if (url.username !== '' || url.password !== '') {
      throw refused(
        `The URL of ${url.hostname} contains a user name or password, which is not supported: send credentials in a header.`,
      );
    }
    const fault = this.placeFault(placeOf(url));
    if (fault) throw fault;
  }

  /** Reason to refuse a host before name resolution, if any. */
  placeFault(place: OutgoingPlace): AppError | undefined {
    const { host } = place;
    if (host === '') return refused('The address has no host.');
    if (isIP(host)) return this.addressFault(place, host);
    const isLocal = host === 'localhost' || host.endsWith('.localhost');
    return isLocal && this.allowing(place).length === 0
      ? refused(`${host} is this machine, and calls to it are not allowed; ${this.advice}.`)
      : undefined;
  }

  /** Reason to refuse a resolved or literal address, if any. The message contains the address only if the URL does. */
  addressFault(place: OutgoingPlace, address: string): AppError | undefined {
    const { kind, range } = classifyAddress(address);
    const ranges = this.rangesOf(place, address);
    const isOpen = {
      public: true,
      local: ranges.length > 0 || this.allowing(place).length > 0,
      metadata: ranges.some(isSingle),
      special: ranges.length > 0,
    }[kind];
    if (!isOpen) {
      const what = place.host === address ? `${address} is` : `${place.host} resolves to an address that is`;
      return refused(`${what} not public (${range}), and calls to it are not allowed; ${this.advice}.`);
    }
    const isNamed = ranges.length > 0 || this.allowing(place).length > 0;
    return this.isClosed(place.port) && !isNamed ? portFault(place.host, place.port) : undefined;
  }

  private get advice(): string {
    return this.isOfRedirects ? LEADING : ALLOWING;
  }

  /** For redirects, an allowed range applies to literal addresses only, not to names that resolve into it. */
  private rangesOf({ host, port }: OutgoingPlace, address: string): readonly OutgoingTarget[] {
    if (this.isOfRedirects && isIP(host) === 0) return [];
    return this.rules.allow.filter((target) => isRangeOf(target, address, port));
  }

  private allowing({ host, port }: OutgoingPlace): readonly OutgoingTarget[] {
    return this.rules.allow.filter(
      (target) => target.kind === 'name' && fits(target.port, port) && isNameOf(target.name, host),
    );
  }

  private isClosed(port: number): boolean {
    return this.rules.ports.length > 0 && !this.rules.ports.includes(port);
  }
}

function placeOf({ hostname, port, protocol }: URL): OutgoingPlace {
  return toPlace(hostname, port === '' ? DEFAULT_PORTS[protocol]! : Number(port));
}

/** Host and port of a URL: without brackets and trailing dots, in lower case. */
export function toPlace(hostname: string, port: number): OutgoingPlace {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return { host: withoutTrailing(bare.toLowerCase(), '.'), port };
}

function isNameOf(name: string, host: string): boolean {
  return name.startsWith('*.') ? host.endsWith(name.slice(1)) && host.length >= name.length : host === name;
}

function isRangeOf(target: OutgoingTarget, address: string, port: number): boolean {
  return target.kind === 'range' && fits(target.port, port) && isInRange(address, target);
}

/** Whether an entry covers exactly one address. */
function isSingle(target: OutgoingTarget): boolean {
  return target.kind === 'range' && target.prefix === (isIP(target.address) === 4 ? 32 : 128);
}

function isOnePlace(target: OutgoingTarget): boolean {
  return target.port !== undefined && (target.kind === 'name' ? !target.name.startsWith('*.') : isSingle(target));
}

function fits(allowed: number | undefined, port: number): boolean {
  return allowed === undefined || allowed === port;
}

function portFault(host: string, port: number): AppError {
  return refused(`Port ${port} of ${host} is not in OUTGOING_PORTS; calls to it are not allowed.`);
}
