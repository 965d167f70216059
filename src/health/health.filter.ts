import { Catch, ServiceUnavailableException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';

interface HttpReply {
  status(code: number): HttpReply;
  send(body: unknown): unknown;
}

/** Returns a failed health check in the same shape as a passed one, not as problem details. */
@Catch(ServiceUnavailableException)
export class HealthFilter implements ExceptionFilter<ServiceUnavailableException> {
  catch(down: ServiceUnavailableException, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<HttpReply>().status(503).send(down.getResponse());
  }
}
