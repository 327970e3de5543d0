// A place-holder until the products land.
#pragma once
namespace tx {
class BlasLt {};
}  // namespace tx
