import { Catch, ServiceUnavailableException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';

interface HttpReply {
  status(code: number): HttpReply;
  send(body: unknown): unknown;
}

/** Down is an answer, in the same shape as up, and no problem of the request. */
@Catch(ServiceUnavailableException)
export class HealthFilter implements ExceptionFilter<ServiceUnavailableException> {
  catch(down: ServiceUnavailableException, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<HttpReply>().status(503).send(down.getResponse());
  }
}
