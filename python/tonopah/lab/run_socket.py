"""The socket of a run: control messages as JSON, series as binary columns.

The page asks for series when it has drawn the last ones, so that neither side fills the other's buffers.
"""

import asyncio
import json
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from tonopah.errors import LimitError, ScenarioError
from tonopah.lab.messages import MOST_BYTES, Attach, Message, MessageError, Pace, Show, Start, parse
from tonopah.lab.runs import Runs
from tonopah.lab.security import SUBPROTOCOL
from tonopah.lab.session import OVER, Session, error_facts, read_document

BAD_MESSAGE = 1008
TOO_LARGE = 1009
MOST_REASON = 120
"""Bytes of the reason with which a socket is closed (RFC 6455 §5.5)."""


class RunSocket:
    """One connection and the run that it watches."""

    def __init__(self, socket: WebSocket, runs: Runs):
        self.socket, self.runs = socket, runs
        self.session: Session | None = None

    async def serve(self) -> None:
        """Answer until the page goes or says something wrong."""
        await self.socket.accept(SUBPROTOCOL)
        try:
            # What cannot be sent any more ends it, before anything else is received.
            while self.socket.application_state is WebSocketState.CONNECTED:
                text = await self.socket.receive_text()
                if len(text.encode()) > MOST_BYTES:
                    await self.close(TOO_LARGE, f"a message of more than {MOST_BYTES:,} bytes")
                    return
                await self.handle(parse(text))
        except MessageError as error:
            await self.close(BAD_MESSAGE, str(error))
        except KeyError:
            # A binary message has no text. Not every server ends a socket whose handler returns.
            await self.close(BAD_MESSAGE, "a message that is no text")
        except WebSocketDisconnect:
            pass
        finally:
            if self.session:
                self.runs.leave(self.session)

    async def close(self, code: int, reason: str) -> None:
        """Close the connection with a reason."""
        await self.socket.close(code, reason.encode()[:MOST_REASON].decode(errors="ignore"))

    async def handle(self, message: Message) -> None:
        """Do what the page asks for. Raises MessageError."""
        if isinstance(message, Start):
            await self.start(message)
        elif isinstance(message, Attach):
            await self.attach(message)
        elif self.session is None:
            raise MessageError("there is no run yet")
        elif isinstance(message, Show):
            await self.show(self.session, message)
        elif isinstance(message, Pace):
            self.session.pace = message.factor
        elif message.kind == "pause":  # type: ignore[attr-defined]
            self.session.going.clear()
        elif message.kind == "continue":  # type: ignore[attr-defined]
            self.session.going.set()
        else:
            self.session.stop()

    async def start(self, message: Start) -> None:
        """Begin a run instead of the one before."""
        if self.session:
            self.runs.leave(self.session, at_once=True)
            self.session = None
        try:
            document = read_document(message.toml, message.scenario)
            session = await self.runs.start(document, message.seed, message.pace)
        except (ScenarioError, LimitError) as error:
            await self.say("refused", error=error_facts(error))
            return
        self.watch(session)
        await self.say("started", **session.started())
        session.start()

    async def attach(self, message: Attach) -> None:
        """Take up a run again."""
        if self.session:
            self.runs.leave(self.session)
            self.session = None
        session = self.runs.attach(message.run)
        if session is None:
            await self.say("gone")
            return
        self.watch(session)
        await self.say("started", **session.started())
        if session.state in OVER:
            await self.ended(session)

    def watch(self, session: Session) -> None:
        """Hear of the end of a run."""
        self.session, loop, before = session, asyncio.get_running_loop(), session.on_end

        def on_end() -> None:
            before()
            if not loop.is_closed():
                asyncio.run_coroutine_threadsafe(self.ended(session), loop)

        session.on_end = on_end

    async def ended(self, session: Session) -> None:
        """Tell the page that its run is over."""
        if session is self.session:
            await self.say("ended", **session.facts(), summary=session.summary)

    async def show(self, session: Session, message: Show) -> None:
        """Send series."""
        await self.socket.send_bytes(await asyncio.to_thread(session.shown, message.part()))

    async def say(self, kind: str, **facts: Any) -> None:
        """Send a message; who has gone hears nothing."""
        with suppress(RuntimeError, WebSocketDisconnect):
            await self.socket.send_text(json.dumps({"kind": kind, **facts}))
