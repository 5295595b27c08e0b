"""Testing: what plugin authors and our own tests need, shipped with the library.

Fakes that go in through the same constructors as the real parts, and a real HTTP upstream that
records the exact bytes of every request.
"""
